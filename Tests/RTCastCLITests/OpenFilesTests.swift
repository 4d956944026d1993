import Testing
import rtcast_cli

@Suite struct OpenFilesTests {
  @Test(arguments: [(1_024, 416), (256, 64), (100, 64), (4_096, 1_024), (1_048_576, 1_024)])
  func `B3: connections leave descriptors to media`(limit: Int, share: Int) {
    #expect(OpenFiles.share(of: 1_024, limit: limit) == share)
  }
}
