import Testing

/// Runs the fuzzers' bodies over the inputs kept in `Fuzz`. The bodies are compiled in here through the link
/// `FuzzPeerBodies`.
@Suite struct FuzzReplayTests {
  @Test func `no kept input of a fuzzer breaks an agent`() throws { try KeptInputs(target: "ICE").replay(fuzzICE) }

  @Test func `no kept input of a fuzzer breaks what two peers agree on`() throws {
    try KeptInputs(target: "Negotiation").replay(fuzzNegotiation)
  }

  @Test func `no kept input of a fuzzer breaks a peer whose far side keeps no rule`() throws {
    try KeptInputs(target: "FarPeer").replay(fuzzFarPeer)
  }
}
