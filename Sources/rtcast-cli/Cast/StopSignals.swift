import Glibc
import RTCNet
import Synchronization

/// Ctrl-C, termination and hang-up as an orderly end. The second one ends the process at once. Where a service manager runs the
/// process, there is no terminal that could hang up: SIGHUP asks to read settings again.
enum StopSignals {
  /// The pipe that the handler writes to: a signal handler may only make system calls.
  private static let note = Atomic<Int32>(-1)
  private static let typed = Atomic<Bool>(false)

  /// Whether the last signal came from the kernel: it was typed at the terminal, whose other programs have got it too.
  static var isTyped: Bool { typed.load(ordering: .relaxed) }

  /// Calls `body` on a thread of its own when the first signal arrives. Once per process.
  /// - Parameter reload: called on that thread for each SIGHUP of a service; nil: SIGHUP is ignored there.
  static func install(
    reload: (@Sendable () -> Void)? = nil, _ body: @escaping @Sendable (_ signal: Int32) -> Void
  ) throws(CastFailure) {
    signal(SIGPIPE, SIG_IGN)  // a reader that left is not a reason to die
    var pipe: [Int32] = [-1, -1]
    guard Glibc.pipe(&pipe) == 0 else {
      throw CastFailure(.software, "No pipe for signals can be made: \(String(cString: strerror(errno))).")
    }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    note.store(pipe[1], ordering: .sequentiallyConsistent)
    let reading = pipe[0]
    do throws(SystemError) {
      // Never joined: it lives as long as the process.
      _ = try NamedThread(name: "rtc-signals") {
        var isStopping = false
        while let number = wait(reading) {
          if number == SIGHUP, ServiceNotifier.current != nil {
            if !isStopping { reload?() }
            continue
          }
          if isStopping { _exit(128 + number) }
          isStopping = true
          ServiceNotifier.current?.tell(.stopping)
          body(number)
        }
      }
    } catch {
      throw CastFailure(.software, error.description)
    }
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { handle(number) }
  }

  /// Whether a signal is ignored: settings of `nohup` stay.
  private static func isIgnored(_ number: Int32) -> Bool {
    var old = sigaction()
    guard sigaction(number, nil, &old) == 0 else { return false }
    return unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
  }

  private static func handle(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { number, info, _ in
      StopSignals.typed.store(info.map { $0.pointee.si_code > 0 } ?? false, ordering: .relaxed)
      var byte = UInt8(truncatingIfNeeded: number)
      let before = errno
      _ = Glibc.write(StopSignals.note.load(ordering: .sequentiallyConsistent), &byte, 1)
      errno = before
    }
    action.sa_flags = SA_RESTART | SA_SIGINFO
    sigaction(number, &action, nil)
  }

  private static func wait(_ descriptor: Int32) -> Int32? {
    // One thread must not block the signals, whatever the runtime's threads block.
    var open = sigset_t()
    sigemptyset(&open)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&open, number) }
    pthread_sigmask(SIG_UNBLOCK, &open, nil)
    var byte: UInt8 = 0
    while true {
      switch read(descriptor, &byte, 1) {
      case 1: return Int32(byte)
      case -1 where errno == EINTR: continue
      default: return nil
      }
    }
  }
}
