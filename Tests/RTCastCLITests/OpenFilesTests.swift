import Testing
import rtcast_cli

@Suite struct OpenFilesTests {
  @Test(arguments: [(1_024, 416), (256, 64), (100, 64), (4_096, 1_024), (1_048_576, 1_024)])
  func `B3: connections leave descriptors to media`(limit: Int, share: Int) {
    #expect(OpenFiles.share(of: 1_024, limit: limit) == share)
  }

  @Test(arguments: [(1_024, 104), (256, 16), (4_096, 488), (1_048_576, 1_024)])
  func `relayed addresses leave descriptors to connections and media`(limit: Int, relays: Int) {
    #expect(OpenFiles.relays(of: 1_024, limit: limit) == relays)
    #expect(OpenFiles.share(of: 1_024, limit: limit - 2 * relays) >= min(1_024, relays))
  }
}
