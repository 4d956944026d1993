import FuzzTargets
import Testing

/// Runs the fuzzers' bodies over the inputs kept in `Fuzz`.
@Suite struct FuzzReplayTests {
  @Test(arguments: FuzzTarget.all.map(\.name)) func `no kept input of a fuzzer breaks what it fuzzes`(name: String)
    throws
  {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    try KeptInputs(target: name).replay(target.body)
  }

  @Test func `every fuzzed target is replayed`() throws {
    #expect(try Set(KeptInputs.targets) == Set(FuzzTarget.all.map(\.name)))
  }
}
