//! Exports of Nsight Systems with planted rows, as SQLite itself writes them.

use crate::sqlite;

/// Tables of an export as Nsight Systems 2024.5 has them, with the columns that say something, in
/// small pages, because each takes one at least.
pub const SCHEMA: &str = "
PRAGMA page_size = 512;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, name TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
    eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
    returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
    shortName INTEGER NOT NULL, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
    blockY INTEGER, blockZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
    srcKind INTEGER, dstKind INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
    rangeId INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL,
    globalTid INTEGER);
CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL,
    module INTEGER NOT NULL, unresolved INTEGER, stackDepth INTEGER NOT NULL,
    PRIMARY KEY (id, stackDepth));
";

/// The `globalPid` of a process.
#[must_use]
pub const fn process(pid: i64) -> i64 {
    1 << 48 | pid << 24
}

/// The `globalTid` of a thread.
#[must_use]
pub const fn thread(pid: i64, tid: i64) -> i64 {
    process(pid) | tid
}

/// The bytes of an export with the rows that SQL statements insert.
///
/// # Panics
/// When SQLite refuses them.
#[must_use]
pub fn export(rows: &str) -> Vec<u8> {
    sqlite::of_sql(&format!("{SCHEMA}{rows}"))
}

/// A rank that computes on a GPU: it pushes a range, launches two kernels and copies the result,
/// while a second thread polls. The numbers of its events are those of a hand-drawn time line.
///
/// ```text
/// main   [step 100..................900] [cudaMemcpy 900....1000]
///          [cudaLaunchKernel 120..160]  [cudaLaunchKernel 300..340]
///            [ioctl 130..150]
/// poller [poll 50.......................................1000]
/// GPU                     [a 200..400][b 400..850]      [copy 910..990]
/// ```
#[must_use]
pub fn small() -> Vec<u8> {
    export(&small_rows())
}

/// The statements that insert the rows of [`small`].
#[must_use]
pub fn small_rows() -> String {
    let (own, main, poller) = (process(70), thread(70, 70), thread(70, 75));
    format!(
        "
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaMemcpy_v3020'), (3, 'ioctl'),
    (4, 'poll'), (5, 'a(int)'), (6, 'a'), (7, 'void ns::b<int>(T1)'), (8, 'b'), (9, 'step'),
    (10, 'poller'), (11, 'main'), (12, 'solve'), (13, '/usr/lib/libcuda.so.1'), (14, '0x7f01'),
    (15, '/home/app');
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'Hostname', 'node7'),
    (1, 'DeviceEnvironment', 'HOME=/;PMI_RANK=3');
INSERT INTO PROCESSES VALUES ({own}, 70, './bin/app'), ({other}, 71, 'systemd');
INSERT INTO ThreadNames VALUES (10, 0, {poller});
INSERT INTO NVTX_EVENTS VALUES (100, 900, 59, NULL, NULL, {main}, 9, 0),
    (500, NULL, 34, NULL, 'here', {main}, NULL, 0);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (120, 160, 0, {main}, 21, 1, 0, NULL),
    (119, 161, 67, {main}, 21, 1, 0, 1), (300, 340, 0, {main}, 22, 1, 0, NULL),
    (900, 1000, 0, {main}, 23, 2, 0, NULL);
INSERT INTO OSRT_API VALUES (40, 40, 31, {own}, 4), (130, 150, 27, {main}, 3),
    (50, 1000, 27, {poller}, 4);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 400, 0, 1, 7, 21, {own}, 5, 6, 2, 1, 1, 64, 1, 1),
    (400, 850, 0, 1, 7, 22, {own}, 7, 8, 2, 1, 1, 64, 1, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (910, 990, 0, 1, 7, 23, {own}, 4096, 2, 2, 0);
INSERT INTO COMPOSITE_EVENTS VALUES (1, 10, {main}), (2, 20, {main}), (3, 30, {main});
INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 12, 15, NULL, 0), (1, 11, 15, NULL, 1),
    (2, 14, 13, 1, 0), (2, 12, 15, NULL, 1), (2, 11, 15, NULL, 2);
",
        other = process(71)
    )
}
