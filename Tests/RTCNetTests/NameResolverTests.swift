import RTCNet
import RTCPrimitives
import Testing

/// Names and their addresses.
@Suite(.timeLimit(.minutes(1))) struct NameResolverTests {
  @Test func `this machine's own name has its loopback address`() {
    let answers = Inbox<NameAnswer>()
    NameResolver().resolve("localhost") { answers.append($0) }
    guard case .addresses(let addresses)? = answers.wait(for: 1).first else {
      Issue.record("no address")
      return
    }
    #expect(!addresses.isEmpty && addresses.allSatisfy(\.isLoopback))
  }

  @Test func `a name that nobody has fails with the system's own words`() {
    let answers = Inbox<NameAnswer>()
    NameResolver().resolve("no-such-name.invalid") { answers.append($0) }
    guard case .failed(let reason)? = answers.wait(for: 1).first else {
      Issue.record("it has an address")
      return
    }
    #expect(!reason.isEmpty)
  }
}
