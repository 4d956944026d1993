import Glibc
import RTCNet
import RTCPrimitives
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct WorkerThreadTests {
  @Test func `a worker starts once, stops twice, and starts again`() throws {
    let worker = WorkerThread()
    worker.stop()
    let runs = Monitor(0)
    for round in 1...3 {
      let isNew = try worker.start(name: "worker") { run in
        runs.change { $0 += 1 }
        while !run.isStopped { run.wait(until: nil) }
      }
      #expect(isNew)
      #expect(try !worker.start(name: "worker") { _ in runs.change { $0 += 100 } })
      _ = runs.wait(until: nil) { $0 == round ? true : nil }
      worker.stop()
      worker.stop()
    }
    #expect(runs.withLock { $0 } == 3)
  }

  @Test func `a run that has ended by itself may be followed from its own callback, and the two do not overlap`() throws
  {
    let worker = WorkerThread()
    let order = Monitor<[String]>([])
    _ = try worker.start(name: "first") { run in
      run.noteEnded()
      _ = try? worker.start(name: "second") { _ in order.change { $0.append("second") } }
      order.change { $0.append("first") }
    }
    let seen = order.wait(until: nil) { $0.count == 2 ? $0 : nil }
    worker.stop()
    #expect(seen == ["first", "second"])
  }

  @Test func `a run that waits for the one before can be stopped from inside of that`() throws {
    let worker = WorkerThread()
    let done = Monitor<[Bool]>([])
    _ = try worker.start(name: "first") { run in
      run.noteEnded()
      _ = try? worker.start(name: "second") { _ in done.change { $0.append(false) } }
      worker.stop()
      done.change { $0.append(true) }
    }
    #expect(done.wait(until: nil) { $0.isEmpty ? nil : $0 } == [true])
    worker.stop()
  }

  @Test func `a run sleeps until its deadline, a wake, or what it watches`() throws {
    let worker = WorkerThread()
    let watched = try WakeEvent()
    let steps = Monitor(0)
    let run = Monitor<WorkerRun?>(nil)
    _ = try worker.start(name: "sleeper") { worker in
      let due = MonotonicClock.now() + .milliseconds(3)
      worker.wait(until: due)
      precondition(MonotonicClock.now() >= due)
      precondition((try? worker.watch(watched.descriptor)) != nil)
      run.change { $0 = worker }
      worker.wait(until: nil)
      steps.change { $0 = 1 }
      worker.wait(until: nil)
      steps.change { $0 = 2 }
    }
    run.wait(until: nil) { $0 }?.wake()
    _ = steps.wait(until: nil) { $0 == 1 ? true : nil }
    watched.signal()
    #expect(steps.wait(until: nil) { $0 == 2 ? true : nil } == true)
    worker.stop()
  }

  @Test func `without a descriptor left nothing is started, and the error says so`() async {
    // Limits hold for a whole process, so this is one of its own.
    await #expect(processExitsWith: .success) {
      alarm(60)
      let worker = WorkerThread()
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      do throws(SystemError) {
        _ = try worker.start(name: "worker") { _ in fatalError("started") }
        fatalError("no error")
      } catch {
        precondition(error.errno == EMFILE)
        precondition(error.description.contains("ulimit -n"))
      }
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let hasRun = Monitor(false)
      _ = try worker.start(name: "worker") { _ in hasRun.change { $0 = true } }
      _ = hasRun.wait(until: nil) { $0 ? true : nil }
      worker.stop()
    }
  }

  @Test func `a thread that the system refuses is an error, not the end of the process`() async {
    await #expect(processExitsWith: .success) {
      alarm(60)
      let worker = WorkerThread()
      var space = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &space)
      // Less than is in use: what is there stays, and no stack comes to it.
      var none = rlimit(rlim_cur: 1 << 20, rlim_max: space.rlim_max)
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &none)
      do throws(SystemError) {
        _ = try worker.start(name: "worker") { _ in fatalError("started") }
        fatalError("no error")
      } catch {
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &space)
        precondition(error.call == "pthread_create")
        precondition(error.errno == EAGAIN)
      }
      _ = try worker.start(name: "worker") { _ in }
      worker.stop()
    }
  }
}
