//! Devices, and how work gets to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use wgpu::util::DeviceExt as _;

use crate::buffers::{Copied, Memory, Pool};
use crate::kernels::{Module, Shape};
use crate::times::Times;
use crate::{Column, GpuError, Word};

/// What kind of device it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares the memory of the processor.
    Integrated,
    /// A GPU of the host, passed to a virtual machine.
    Virtual,
    /// The processor, through a driver for it. Right, and slower than code for the processor.
    Software,
    /// The driver does not say.
    Unknown,
}

impl DeviceKind {
    /// One word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
            Self::Unknown => "unknown",
        }
    }
}

/// A device that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The number to [open](Gpu::open) it by.
    pub number: usize,
    /// What its driver calls it.
    pub name: String,
    /// What kind of device it is.
    pub kind: DeviceKind,
    /// The programming interface that it is reached through.
    pub interface: String,
    /// The driver and its version.
    pub driver: String,
}

/// How a device is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Check every index in kernels. For tests: what is out of bounds reads 0.
    pub checks_bounds: bool,
    /// Loops over the elements of an invocation as loops. For measurements.
    pub keeps_loops: bool,
    /// Take the time of each kernel, where the device can: [`Gpu::take_times`].
    pub is_timed: bool,
    /// So many groups are summed at once; by default as many as there is room for.
    pub groups_at_once: Option<usize>,
    /// How sorts go about it. For tests and measurements.
    pub sort: Option<SortShape>,
}

/// How a sort goes about it: what is fastest depends on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortShape {
    /// Bits that keys are put in order by in one pass, 1 to 8: with more there are fewer passes, and
    /// shorter runs of keys that are written at once.
    pub digit_bits: u32,
    /// Invocations of a workgroup.
    pub workgroup: u32,
    /// Keys of each invocation, 1 to 32.
    pub items: u32,
}

fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    // GPUs first, the software device last; otherwise in the order of the drivers.
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::Other => 2,
        wgpu::DeviceType::Cpu => 3,
    });
    adapters
}

fn info_of(number: usize, info: &wgpu::AdapterInfo) -> DeviceInfo {
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::VirtualGpu => DeviceKind::Virtual,
        wgpu::DeviceType::Cpu => DeviceKind::Software,
        wgpu::DeviceType::Other => DeviceKind::Unknown,
    };
    let driver = format!("{} {}", info.driver, info.driver_info).trim().to_owned();
    let interface = match info.backend {
        wgpu::Backend::Vulkan => "Vulkan",
        wgpu::Backend::Metal => "Metal",
        wgpu::Backend::Dx12 => "Direct3D 12",
        other => other.to_str(),
    };
    DeviceInfo { number, name: info.name.clone(), kind, interface: interface.to_owned(), driver }
}

/// The devices of this machine: GPUs first, and one in software, where there is one, last. None where
/// there is no driver or no loader.
#[must_use]
pub fn devices() -> Vec<DeviceInfo> {
    adapters().iter().enumerate().map(|(i, adapter)| info_of(i, &adapter.get_info())).collect()
}

/// Bytes of the largest memory of a device, where its driver says so.
#[cfg(not(target_vendor = "apple"))]
#[expect(unsafe_code, reason = "only the driver knows how much memory there is")]
fn memory_bytes(adapter: &wgpu::Adapter) -> Option<u64> {
    // Of a heap that is the device's own.
    const LOCAL: u32 = 1;
    // SAFETY: the handles are those of the adapter, which lives on and is not changed.
    let memory = unsafe {
        let adapter = adapter.as_hal::<wgpu::hal::api::Vulkan>()?;
        let instance = adapter.shared_instance().raw_instance();
        instance.get_physical_device_memory_properties(adapter.raw_physical_device())
    };
    let count = usize::try_from(memory.memory_heap_count).unwrap_or(0);
    let heaps = memory.memory_heaps.iter().take(count);
    heaps.filter(|heap| heap.flags.as_raw() & LOCAL != 0).map(|heap| heap.size).max()
}

/// Bytes of the largest memory of a device, where its driver says so.
#[cfg(target_vendor = "apple")]
fn memory_bytes(_: &wgpu::Adapter) -> Option<u64> {
    None
}

/// A device that is open.
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) shape: Shape,
    pub(crate) sorting: Shape,
    pub(crate) pool: Pool,
    info: DeviceInfo,
    /// Bytes of its memory, where the driver says so.
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) copied: Copied,
    /// What copies to the host go through.
    pub(crate) staging: Mutex<Option<wgpu::Buffer>>,
    pub(crate) options: Options,
    pub(crate) times: Option<Times>,
    modules: Mutex<HashMap<Module, wgpu::ShaderModule>>,
    pipelines: Mutex<HashMap<(Module, &'static str), wgpu::ComputePipeline>>,
    failed: Arc<Mutex<Option<String>>>,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Gpu {
    /// Opens a device by its number in [`devices`].
    ///
    /// # Errors
    /// When there is no such device, or it lacks what the kernels need.
    pub fn open(number: usize) -> Result<Self, GpuError> {
        Self::open_with(number, Options::default())
    }

    /// [`Gpu::open`] with options.
    ///
    /// # Errors
    /// When there is no such device, or it lacks what the kernels need.
    pub fn open_with(number: usize, options: Options) -> Result<Self, GpuError> {
        let adapters = adapters();
        let count = adapters.len();
        let Some(adapter) = adapters.into_iter().nth(number) else {
            return Err(GpuError::NoDevice(match count {
                0 => "there is no GPU: no driver for Vulkan, Metal or Direct3D 12 offers one"
                    .to_owned(),
                1 => format!("there is no GPU {number}: the only one is GPU 0"),
                _ => format!("there is no GPU {number}: there are GPU 0 to GPU {}", count - 1),
            }));
        };
        let about = adapter.get_info();
        let info = info_of(number, &about);
        let lacks = |lacks| GpuError::Unsupported { device: info.name.clone(), lacks };
        if !adapter.features().contains(wgpu::Features::SUBGROUP) {
            return Err(lacks("subgroup operations"));
        }
        let mut shape = Shape::of(about.subgroup_min_size, about.subgroup_max_size);
        shape.is_unrolled = !options.keeps_loops;
        // What is tested with checks of bounds is tested without the barrier, and with the sets that
        // large subgroups need, too.
        shape.is_narrow &= !options.checks_bounds;
        shape.has_barrier =
            adapter.features().contains(wgpu::Features::SUBGROUP_BARRIER) && !options.checks_bounds;
        let barrier = if shape.has_barrier {
            wgpu::Features::SUBGROUP_BARRIER
        } else {
            wgpu::Features::empty()
        };
        let limits = adapter.limits();
        if !shape.fits(&limits) {
            return Err(lacks("32 KiB of memory that a workgroup shares"));
        }
        let subgroups = (about.subgroup_min_size, about.subgroup_max_size);
        let sorting = match options.sort {
            Some(chosen) => shape
                .sorting(subgroups, chosen)
                .filter(|sorting| sorting.fits(&limits))
                .ok_or_else(|| lacks("what this way of sorting needs"))?,
            // Larger tiles have longer runs of each digit.
            None => shape
                .sorting(subgroups, SortShape { digit_bits: 8, workgroup: 512, items: 16 })
                .filter(|sorting| subgroups.0 >= 32 && sorting.fits(&limits))
                .unwrap_or(shape),
        };
        let can_time =
            options.is_timed && adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let timed =
            if can_time { wgpu::Features::TIMESTAMP_QUERY } else { wgpu::Features::empty() };
        let descriptor = wgpu::DeviceDescriptor {
            label: None,
            required_features: wgpu::Features::SUBGROUP | barrier | timed,
            required_limits: limits,
            memory_hints: wgpu::MemoryHints::Performance,
            ..wgpu::DeviceDescriptor::default()
        };
        let memory_bytes = memory_bytes(&adapter);
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::Failed(error.to_string()))?;
        let failed = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&failed);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert_with(|| error.to_string());
        }));
        let slot = Arc::clone(&failed);
        device.set_device_lost_callback(move |_, message| {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert_with(|| format!("the device was lost: {message}"));
        });
        Ok(Self {
            times: can_time.then(|| Times::new(&device)),
            device,
            queue,
            shape,
            sorting,
            pool: Pool::default(),
            info,
            memory_bytes,
            copied: Copied::default(),
            options,
            staging: Mutex::default(),
            modules: Mutex::default(),
            pipelines: Mutex::default(),
            failed,
        })
    }

    /// What was opened.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Waits until all that was queued has been done.
    ///
    /// # Errors
    /// When the device fails.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .map_err(|error| GpuError::Failed(error.to_string()))?;
        self.failure()
    }

    /// What the driver has complained about since the device was opened.
    pub(crate) fn failure(&self) -> Result<(), GpuError> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*failed {
            None => Ok(()),
            Some(error) => Err(GpuError::Failed(error.clone())),
        }
    }

    fn pipeline(&self, module: Module, entry: &'static str) -> wgpu::ComputePipeline {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let pipeline = pipelines.entry((module, entry)).or_insert_with(|| {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            let source = modules.entry(module).or_insert_with(|| self.compile(module));
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: None,
                module: source,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    // Kernels write shared memory before they read it.
                    zero_initialize_workgroup_memory: false,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                cache: None,
            })
        });
        pipeline.clone()
    }

    #[expect(unsafe_code, reason = "kernels without bounds checks")]
    fn compile(&self, module: Module) -> wgpu::ShaderModule {
        let source = wgpu::ShaderSource::Wgsl(module.source(self.shape_of(module)).into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: None, source };
        if self.options.checks_bounds {
            return self.device.create_shader_module(descriptor);
        }
        // SAFETY: kernels are of this crate, not of a user. Each index is below a length that is
        // passed with it, or was made by another kernel from such, and loops end.
        unsafe {
            self.device
                .create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        }
    }

    /// Work that is queued when it is submitted.
    pub(crate) fn commands(&self) -> Commands<'_> {
        let encoder =
            self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        Commands { gpu: self, encoder, held: Vec::new() }
    }

    /// Tiles of `len` elements.
    pub(crate) fn tiles(&self, len: u32) -> u32 {
        len.div_ceil(self.shape.tile())
    }

    /// The sizes that the kernels of a module are compiled for.
    pub(crate) fn shape_of(&self, module: Module) -> Shape {
        if module.is_of_sort() { self.sorting } else { self.shape }
    }
}

/// Numbers for a kernel: elements, and six whose meaning the kernel says.
pub(crate) type Params = (u32, [u32; 6]);

/// Commands in order; each sees what those before it wrote.
pub(crate) struct Commands<'g> {
    gpu: &'g Gpu,
    encoder: wgpu::CommandEncoder,
    held: Vec<Memory>,
}

/// Workgroups of a row of the grid.
const ROW: u32 = 32768;

impl Commands<'_> {
    /// A kernel over all tiles of its elements.
    pub(crate) fn run(
        &mut self,
        (module, entry): (Module, &'static str),
        params: Params,
        buffers: &[(u32, &wgpu::Buffer)],
    ) {
        let tiles = params.0.div_ceil(self.gpu.shape_of(module).tile());
        self.dispatch((module, entry), params, buffers, tiles);
    }

    /// A kernel with some workgroups.
    pub(crate) fn run_some(
        &mut self,
        kernel: (Module, &'static str),
        params: Params,
        buffers: &[(u32, &wgpu::Buffer)],
        workgroups: usize,
    ) {
        self.dispatch(kernel, params, buffers, u32::try_from(workgroups).unwrap_or(u32::MAX));
    }

    fn dispatch(
        &mut self,
        (module, entry): (Module, &'static str),
        (len, [a, b, c, d, e, f]): Params,
        buffers: &[(u32, &wgpu::Buffer)],
        workgroups: u32,
    ) {
        if workgroups == 0 {
            return;
        }
        let device = &self.gpu.device;
        let pipeline = self.gpu.pipeline(module, entry);
        let words = [len, len.div_ceil(self.gpu.shape_of(module).tile()), a, b, c, d, e, f];
        let params = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&words),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let mut entries =
            vec![wgpu::BindGroupEntry { binding: 0, resource: params.as_entire_binding() }];
        entries.extend(buffers.iter().map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding: *binding,
            resource: buffer.as_entire_binding(),
        }));
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let timestamp_writes =
            self.gpu.times.as_ref().and_then(|times| times.next(module.kernel(entry)));
        let mut pass = self
            .encoder
            .begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(workgroups.min(ROW), workgroups.div_ceil(ROW), 1);
    }

    /// Makes all of a buffer 0.
    pub(crate) fn clear(&mut self, buffer: &wgpu::Buffer) {
        self.encoder.clear_buffer(buffer, 0, None);
    }

    /// Keeps a column until they are queued: before that, another thread could get its memory and
    /// have the result of a command there that these overwrite.
    pub(crate) fn hold<T: Word>(&mut self, column: Column<T>) {
        self.held.push(column.memory);
    }

    /// Queues them.
    pub(crate) fn submit(self) {
        self.gpu.queue.submit([self.encoder.finish()]);
    }
}
