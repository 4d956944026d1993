import Glibc
import RTCCapture
import Testing

@Suite struct BrokenPipeTests {
  @Test func `a source that has gone is an error of the call that writes to it, and does not end the process`() async {
    let isBlocked = await withCheckedContinuation { continuation in
      _ = CaptureThread.launch(name: "test") {
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        continuation.resume(returning: sigismember(&blocked, SIGPIPE) == 1)
      }
    }
    #expect(isBlocked)
  }
}
