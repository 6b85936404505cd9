"""LLVM IR of the pool; ``pool.py`` explains it and replaces each ``$NAME``."""

SERIAL = """
define i32 @irkit.parallel(ptr %body, ptr %context, i64 %begin, i64 %extent, i64 %each) {
  %end = add i64 %begin, %extent
  %status = call i32 %body(ptr %context, i64 %begin, i64 %end)
  ret i32 %status
}
define void @irkit.pool.resize(i32 %threads) { ret void }
define i32 @irkit.pool.threads() { ret i32 1 }
define void @irkit.pool.dismiss() { ret void }
define void @irkit.pool.forked() { ret void }
"""

# Variables that several threads write have their own cache lines. Bits of @state: open 1024,
# waited for 2048, next job 4096.
POOL = """
@state = internal global [16 x i32] zeroinitializer, align 64
@job = internal global { ptr, ptr, i64, i64, i64, i64, [16 x i8] } zeroinitializer, align 64
@next = internal global [8 x i64] zeroinitializer, align 64
@error = internal global [8 x i64] zeroinitializer, align 64
@lock = internal global [16 x i32] zeroinitializer, align 64
@sleepers = internal global [16 x i32] zeroinitializer, align 64
@threads = internal global [16 x i32] [i32 1, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0,
  i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0], align 64
@started = internal global i32 0, align 4
@stopping = internal global i32 0, align 4
@handles = internal global [$MAX x i64] zeroinitializer, align 64

declare i64 @syscall(i64, ...)
declare i32 @clock_gettime(i32, ptr)
declare i32 @sched_yield()
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i64 @llvm.umin.i64(i64, i64)
$DECLARE

; 128 is FUTEX_PRIVATE_FLAG; 1 wakes, 0 waits while the state has the given value.
define internal void @wake(i32 %count) cold noinline {
  %r = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr @state, i64 129, i32 %count, ptr null)
  ret void
}
define internal void @sleep(i32 %seen) cold noinline {
  %r = call i64 (i64, ...) @syscall(i64 $FUTEX, ptr @state, i64 128, i32 %seen, ptr null)
  ret void
}
define internal i64 @now() cold noinline {
  %time = alloca { i64, i64 }, align 8
  %r = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %at = getelementptr i8, ptr %time, i64 8
  %rest = load i64, ptr %at
  %whole = mul i64 %seconds, 1000000000
  %all = add i64 %whole, %rest
  ret i64 %all
}

; Runs chunks, starting with the given one, until none is left.
define internal void @work(i64 %first) {
entry:
  %body = load ptr, ptr @job
  %context = load ptr, ptr getelementptr (i8, ptr @job, i64 8)
  %begin = load i64, ptr getelementptr (i8, ptr @job, i64 16)
  %chunks = load i64, ptr getelementptr (i8, ptr @job, i64 24)
  %size = load i64, ptr getelementptr (i8, ptr @job, i64 32)
  %longer = load i64, ptr getelementptr (i8, ptr @job, i64 40)
  br label %loop
loop:
  %chunk = phi i64 [ %first, %entry ], [ %following, %more ]
  %left = icmp ult i64 %chunk, %chunks
  br i1 %left, label %run, label %done
run:
  %whole = mul i64 %chunk, %size
  %before = call i64 @llvm.umin.i64(i64 %chunk, i64 %longer)
  %offset = add i64 %whole, %before
  %low = add i64 %begin, %offset
  %is.longer = icmp ult i64 %chunk, %longer
  %one = zext i1 %is.longer to i64
  %own = add i64 %size, %one
  %high = add i64 %low, %own
  %status = call i32 %body(ptr %context, i64 %low, i64 %high)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %more, label %failed
more:
  %following = atomicrmw add ptr @next, i64 1 monotonic, align 8
  br label %loop
failed:
  %place = shl i64 %chunk, 32
  %wide = zext i32 %status to i64
  %key = or i64 %place, %wide
  %was = atomicrmw umin ptr @error, i64 %key monotonic, align 8
  store atomic i64 4611686018427387904, ptr @next monotonic, align 8
  br label %done
done:
  ret void
}

define internal ptr @worker(ptr %unused) {
entry:
  br label %fresh
; Starts spinning; %seen is the last job of this worker.
fresh:
  %seen = phi i32 [ -1, %entry ], [ %job, %left ], [ %seen, %awake ]
  br label %spin
spin:
  %count = phi i32 [ 0, %fresh ], [ %counted, %again ]
  %since = phi i64 [ 0, %fresh ], [ %since.next, %again ]
  %state = load atomic i32, ptr @state acquire, align 4
  %job = and i32 %state, -4096
  %open.bit = and i32 %state, 1024
  %open = icmp ne i32 %open.bit, 0
  %new = icmp ne i32 %job, %seen
  %joins = and i1 %open, %new
  br i1 %joins, label %join, label %idle
join:
  %in = add i32 %state, 1
  %pair = cmpxchg ptr @state, i32 %state, i32 %in acq_rel monotonic
  %joined = extractvalue { i32, i1 } %pair, 1
  br i1 %joined, label %take, label %again
take:
  %chunk = atomicrmw add ptr @next, i64 1 monotonic, align 8
  call void @work(i64 %chunk)
  %out = atomicrmw sub ptr @state, i32 1 acq_rel, align 4
  %low = and i32 %out, 3071
  %waited = icmp eq i32 %low, 2049
  br i1 %waited, label %tell, label %left
tell:
  call void @wake(i32 2147483647)
  br label %left
left:
  br label %fresh
idle:
  %stop = load atomic i32, ptr @stopping acquire, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %end, label %look
look:
  $PAUSE
  %phase = and i32 %count, 63
  %is.phase = icmp eq i32 %phase, 0
  br i1 %is.phase, label %clock, label %again
clock:
  %time = call i64 @now()
  %begun = icmp ne i32 %count, 0
  %since.here = select i1 %begun, i64 %since, i64 %time
  %spent = sub i64 %time, %since.here
  %tired = icmp ugt i64 %spent, $SPIN
  br i1 %tired, label %rest, label %again
again:
  %since.next = phi i64 [ %since, %join ], [ %since, %look ], [ %since.here, %clock ]
  %counted = add i32 %count, 1
  br label %spin
; @sleepers is read after a job is opened: this worker is woken, or it sees the job here.
rest:
  %s = atomicrmw add ptr @sleepers, i32 1 seq_cst, align 4
  %state.2 = load atomic i32, ptr @state seq_cst, align 4
  %stop.2 = load atomic i32, ptr @stopping seq_cst, align 4
  %stopped.2 = icmp ne i32 %stop.2, 0
  %job.2 = and i32 %state.2, -4096
  %new.2 = icmp ne i32 %job.2, %seen
  %open.bit.2 = and i32 %state.2, 1024
  %open.2 = icmp ne i32 %open.bit.2, 0
  %joins.2 = and i1 %open.2, %new.2
  %stays = or i1 %joins.2, %stopped.2
  br i1 %stays, label %awake, label %lie
lie:
  call void @sleep(i32 %state.2)
  br label %awake
awake:
  %t = atomicrmw sub ptr @sleepers, i32 1 seq_cst, align 4
  br label %fresh
end:
  ret ptr null
}

; Waits until no worker is inside, after the state was closed.
define internal void @drain() cold noinline {
entry:
  %since = call i64 @now()
  br label %spin
spin:
  %count = phi i32 [ 1, %entry ], [ %counted, %again ]
  %state = load atomic i32, ptr @state acquire, align 4
  %in = and i32 %state, 1023
  %none = icmp eq i32 %in, 0
  br i1 %none, label %done, label %look
look:
  $PAUSE
  %phase = and i32 %count, 63
  %is.phase = icmp eq i32 %phase, 0
  br i1 %is.phase, label %clock, label %again
clock:
  %time = call i64 @now()
  %spent = sub i64 %time, %since
  %tired = icmp ugt i64 %spent, $SPIN
  br i1 %tired, label %rest, label %again
again:
  %counted = add i32 %count, 1
  br label %spin
rest:
  %was = atomicrmw or ptr @state, i32 2048 acq_rel, align 4
  %in.2 = and i32 %was, 1023
  %none.2 = icmp eq i32 %in.2, 0
  br i1 %none.2, label %done, label %lie
lie:
  %marked = or i32 %was, 2048
  call void @sleep(i32 %marked)
  br label %rest
done:
  ret void
}

; Starts workers up to the wanted number. They block all signals except those of a crash
; (4 ILL, 5 TRAP, 6 ABRT, 7 BUS, 8 FPE, 11 SEGV).
define internal void @hire(i32 %wanted) cold noinline {
entry:
  %masks = alloca [32 x i64], align 8
  %old = getelementptr i8, ptr %masks, i64 128
  call void @llvm.memset.p0.i64(ptr %masks, i8 -1, i64 128, i1 false)
  store i64 -1273, ptr %masks
  %m = call i32 @pthread_sigmask(i32 2, ptr %masks, ptr %old)
  %there = load i32, ptr @started
  br label %loop
loop:
  %count = phi i32 [ %there, %entry ], [ %counted, %good ]
  %few = icmp ult i32 %count, %wanted
  br i1 %few, label %start, label %done
start:
  %slot = getelementptr i64, ptr @handles, i32 %count
  %failed = call i32 @pthread_create(ptr %slot, ptr null, ptr @worker, ptr null)
  %ok = icmp eq i32 %failed, 0
  %counted = add i32 %count, 1
  br i1 %ok, label %good, label %short
good:
  br label %loop
; The system refuses more threads: use those there are, and do not ask again.
short:
  store atomic i32 %counted, ptr @threads monotonic, align 4
  br label %done
done:
  store i32 %count, ptr @started
  %n = call i32 @pthread_sigmask(i32 2, ptr %old, ptr null)
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; Ends all workers; the caller holds the lock.
define internal void @stop() cold noinline {
entry:
  %there = load i32, ptr @started
  store atomic i32 1, ptr @stopping seq_cst, align 4
  %old = load atomic i32, ptr @state monotonic, align 4
  %clean = and i32 %old, -4096
  %next = add i32 %clean, 4096
  store atomic i32 %next, ptr @state seq_cst, align 4
  call void @wake(i32 2147483647)
  br label %loop
loop:
  %count = phi i32 [ 0, %entry ], [ %counted, %join ]
  %more = icmp ult i32 %count, %there
  br i1 %more, label %join, label %done
join:
  %slot = getelementptr i64, ptr @handles, i32 %count
  %handle = load i64, ptr %slot
  %r = call i32 @pthread_join(i64 %handle, ptr null)
  %counted = add i32 %count, 1
  br label %loop
done:
  store i32 0, ptr @started
  store atomic i32 0, ptr @stopping seq_cst, align 4
  ret void
}

define i32 @irkit.parallel(ptr %body, ptr %context, i64 %begin, i64 %extent, i64 %each) {
entry:
  %asked = load atomic i32, ptr @threads monotonic, align 4
  %alone = icmp ult i32 %asked, 2
  %short = icmp ult i64 %extent, 2
  %serial = or i1 %alone, %short
  br i1 %serial, label %serially, label %try
try:
  %pair = cmpxchg ptr @lock, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %pair, 1
  br i1 %won, label %staff, label %serially
serially:
  %end = add i64 %begin, %extent
  %own = call i32 %body(ptr %context, i64 %begin, i64 %end)
  ret i32 %own
staff:
  %started = load i32, ptr @started
  %count = load atomic i32, ptr @threads monotonic, align 4
  %wanted = sub i32 %count, 1
  %few = icmp ult i32 %started, %wanted
  br i1 %few, label %more, label %fill, !prof !0
more:
  call void @hire(i32 %wanted)
  br label %fill
fill:
  %wide = zext i32 %count to i64
  %most = mul i64 %wide, %each
  %chunks = call i64 @llvm.umin.i64(i64 %extent, i64 %most)
  %size = udiv i64 %extent, %chunks
  %longer = urem i64 %extent, %chunks
  store ptr %body, ptr @job
  store ptr %context, ptr getelementptr (i8, ptr @job, i64 8)
  store i64 %begin, ptr getelementptr (i8, ptr @job, i64 16)
  store i64 %chunks, ptr getelementptr (i8, ptr @job, i64 24)
  store i64 %size, ptr getelementptr (i8, ptr @job, i64 32)
  store i64 %longer, ptr getelementptr (i8, ptr @job, i64 40)
  store atomic i64 1, ptr @next monotonic, align 8
  store atomic i64 -1, ptr @error monotonic, align 8
  %old = load atomic i32, ptr @state monotonic, align 4
  %clean = and i32 %old, -4096
  %job = add i32 %clean, 4096
  %open = or i32 %job, 1024
  store atomic i32 %open, ptr @state seq_cst, align 4
  %sleeping = load atomic i32, ptr @sleepers seq_cst, align 4
  %none = icmp eq i32 %sleeping, 0
  br i1 %none, label %run, label %rouse
rouse:
  %others = sub i64 %chunks, 1
  %useful = trunc i64 %others to i32
  call void @wake(i32 %useful)
  br label %run
run:
  call void @work(i64 0)
  %was = atomicrmw and ptr @state, i32 -1025 acq_rel, align 4
  %in = and i32 %was, 1023
  %left = icmp eq i32 %in, 0
  br i1 %left, label %over, label %wait
wait:
  call void @drain()
  br label %over
over:
  %error = load atomic i64, ptr @error monotonic, align 8
  store atomic i32 0, ptr @lock release, align 4
  %good = icmp eq i64 %error, -1
  %status = trunc i64 %error to i32
  %result = select i1 %good, i32 0, i32 %status
  ret i32 %result
}

define i32 @irkit.pool.threads() {
  %count = load atomic i32, ptr @threads monotonic, align 4
  ret i32 %count
}

; Sets the number of threads, which includes the one that enters.
define void @irkit.pool.resize(i32 %threads) {
entry:
  br label %try
try:
  %pair = cmpxchg ptr @lock, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %pair, 1
  br i1 %won, label %look, label %busy
busy:
  %y = call i32 @sched_yield()
  br label %try
look:
  %started = load i32, ptr @started
  %wanted = sub i32 %threads, 1
  %many = icmp ugt i32 %started, %wanted
  br i1 %many, label %less, label %set
less:
  call void @stop()
  br label %set
set:
  store atomic i32 %threads, ptr @threads monotonic, align 4
  store atomic i32 0, ptr @lock release, align 4
  ret void
}

; Ends the workers, unless a region is running; the next region starts new ones.
define void @irkit.pool.dismiss() {
  %pair = cmpxchg ptr @lock, i32 0, i32 1 acquire monotonic
  %won = extractvalue { i32, i1 } %pair, 1
  br i1 %won, label %idle, label %busy
idle:
  call void @stop()
  store atomic i32 0, ptr @lock release, align 4
  ret void
busy:
  ret void
}

; After a fork the child has no workers, whatever its memory says.
define void @irkit.pool.forked() {
  store atomic i32 0, ptr @state monotonic, align 4
  store atomic i32 0, ptr @sleepers monotonic, align 4
  store atomic i32 0, ptr @stopping monotonic, align 4
  store i32 0, ptr @started
  store atomic i32 0, ptr @lock seq_cst, align 4
  ret void
}
!0 = !{!"branch_weights", i32 1, i32 1000000}
"""
