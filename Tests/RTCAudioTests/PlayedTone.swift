import Dispatch
import Glibc
import RTCMedia
import RTCPrimitives
import Synchronization

/// A tone without end that a device plays, and what the device did for it.
final class PlayedTone: PlayoutSource {
  struct Asked {
    var phase = 0
    var calls = 0
    var delays: [TimeDelta] = []
    var notices: [String] = []
  }

  private let frequency: Double
  private let asked = Mutex(Asked())
  private let news = DispatchSemaphore(value: 0)
  private let onRender: @Sendable () -> Void

  init(_ frequency: Double, onRender: @escaping @Sendable () -> Void = {}) {
    self.frequency = frequency
    self.onRender = onRender
  }

  func render(sampleCount: Int, delay: TimeDelta) -> [Float] {
    // First: who sees the call counted may count on it.
    onRender()
    let start = asked.withLock { asked in
      defer { asked.phase += sampleCount }
      asked.calls += 1
      asked.delays.append(delay)
      return asked.phase
    }
    news.signal()
    return (0..<sampleCount).flatMap { offset in
      let value = Float(0.5 * sin(2 * .pi * frequency * Double(start + offset) / 48_000))
      return [value, value]
    }
  }

  func notice(_ sentence: String) {
    asked.withLock { $0.notices.append(sentence) }
    news.signal()
  }

  var now: Asked { asked.withLock { $0 } }

  /// Waits until `condition` holds; false when it does not within 20 seconds.
  func wait(until condition: (Asked) -> Bool) -> Bool {
    let deadline = DispatchTime.now() + .seconds(20)
    while !asked.withLock({ condition($0) }) {
      if news.wait(timeout: deadline) == .timedOut { return false }
    }
    return true
  }

  /// Waits until the device has asked some more.
  func isAskedOn() -> Bool {
    let calls = now.calls
    return wait { $0.calls >= calls + 5 }
  }
}
