//! Which registers a sample has, and how they begin the search for callers.

use framehop::UnwindRegsNative;
use parallax_native::ThreadRegisters;

/// Registers of a sample, as the kernel numbers them: those that finding callers begins with.
#[cfg(target_arch = "x86_64")]
pub(crate) const MASK: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(target_arch = "aarch64")]
pub(crate) const MASK: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// How many these are.
pub(crate) const COUNT: usize = MASK.count_ones() as usize;

/// Registers in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Registers(pub(crate) [u64; COUNT]);

#[cfg(target_arch = "x86_64")]
impl Registers {
    /// Those of a thread that is stopped.
    pub(crate) const fn of(thread: &ThreadRegisters) -> Self {
        Self([thread.frame(), thread.stack(), thread.instruction()])
    }

    /// Where the program is.
    pub(crate) const fn instruction(&self) -> u64 {
        let [_, _, ip] = self.0;
        ip
    }

    /// Where its stack ends.
    pub(crate) const fn stack(&self) -> u64 {
        let [_, sp, _] = self.0;
        sp
    }

    /// As the unwinder wants them.
    pub(crate) fn native(&self) -> UnwindRegsNative {
        let [bp, sp, ip] = self.0;
        UnwindRegsNative::new(ip, sp, bp)
    }
}

#[cfg(target_arch = "aarch64")]
impl Registers {
    /// Those of a thread that is stopped.
    pub(crate) const fn of(thread: &ThreadRegisters) -> Self {
        Self([thread.frame(), thread.link(), thread.stack(), thread.instruction()])
    }

    /// Where the program is.
    pub(crate) const fn instruction(&self) -> u64 {
        let [_, _, _, pc] = self.0;
        pc
    }

    /// Where its stack ends.
    pub(crate) const fn stack(&self) -> u64 {
        let [_, _, sp, _] = self.0;
        sp
    }

    /// As the unwinder wants them.
    pub(crate) fn native(&self) -> UnwindRegsNative {
        let [fp, lr, sp, _] = self.0;
        UnwindRegsNative::new(lr, sp, fp)
    }
}

/// Where the piece of code that CPython makes for each function was called, with the registers
/// there. It calls the interpreter and returns, and has one word on the stack beneath its return
/// address: the frame pointer that it keeps (since 3.13), or room (3.12). No file says so.
#[cfg(target_arch = "x86_64")]
pub(crate) fn python_caller(
    registers: &UnwindRegsNative,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<(u64, UnwindRegsNative)> {
    let (stack, frame) = (registers.sp(), registers.bp());
    let caller = read(stack.checked_add(8)?).ok()?;
    let frame = if frame == stack { read(stack).ok()? } else { frame };
    Some((caller, UnwindRegsNative::new(caller, stack.checked_add(16)?, frame)))
}

/// As above; there are frame pointers, which are followed anyway.
#[cfg(target_arch = "aarch64")]
pub(crate) const fn python_caller(
    _registers: &UnwindRegsNative,
    _read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<(u64, UnwindRegsNative)> {
    None
}

/// Where a signal interrupted the thread, with its registers there, when its handler has returned
/// and the stack ends at `stack`: there is a `struct ucontext` of the kernel.
#[cfg(target_arch = "x86_64")]
pub(crate) fn interrupted(
    stack: u64,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<(u64, UnwindRegsNative)> {
    /// `uc_mcontext`, and in it registers by `REG_RBP`, `REG_RSP` and `REG_RIP` of `ucontext.h`.
    const REGISTERS: u64 = 40;
    let mut register = |number: u64| read(stack.checked_add(REGISTERS + 8 * number)?).ok();
    let (bp, sp, ip) = (register(10)?, register(15)?, register(16)?);
    Some((ip, UnwindRegsNative::new(ip, sp, bp)))
}

/// As above: there is a `struct rt_sigframe`, 128 bytes of `siginfo` before the context.
#[cfg(target_arch = "aarch64")]
pub(crate) fn interrupted(
    stack: u64,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Option<(u64, UnwindRegsNative)> {
    /// `uc_mcontext.regs`: behind the fault address, 16 bytes aligned.
    const REGISTERS: u64 = 128 + 176 + 8;
    let mut register = |number: u64| read(stack.checked_add(REGISTERS + 8 * number)?).ok();
    let (fp, lr, sp, pc) = (register(29)?, register(30)?, register(31)?, register(32)?);
    Some((pc, UnwindRegsNative::new(lr, sp, fp)))
}
