import Testing

/// Runs the fuzzer's body over the inputs kept in `Fuzz`. The body is compiled in here through the link `FuzzSCTPBody`.
@Suite struct FuzzReplayTests {
  @Test func `no kept input of the fuzzer breaks a transport`() throws {
    try KeptInputs(target: "SCTP").replay(fuzzSCTP)
  }
}
