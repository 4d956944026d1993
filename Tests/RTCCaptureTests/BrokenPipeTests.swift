import Glibc
import RTCCapture
import RTCNet
import Testing

@Suite struct BrokenPipeTests {
  @Test func `a source that has gone is an error of the call that writes to it, and does not end the process`() async {
    let worker = WorkerThread()
    let isBlocked = await withCheckedContinuation { continuation in
      _ = try? worker.start(name: "test") { _ in
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        continuation.resume(returning: sigismember(&blocked, SIGPIPE) == 1)
      }
    }
    worker.stop()
    #expect(isBlocked)
  }
}
