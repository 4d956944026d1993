import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct HubPageTests {
  private let page = String(decoding: HubPage.html, as: UTF8.self)

  @Test func `the page is whole and fetches nothing`() {
    #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
    for reference in ["<link rel=\"stylesheet\"", "<script src", "src=\"http", "@import", "url(http"] {
      #expect(!page.contains(reference))
    }
  }

  @Test func `every script is in it once`() {
    let owned = [
      "class HubLine", "class LocalMedia", "class Call ", "class Switchboard", "class Tiles", "class Ringer",
    ]
    for declaration in owned { #expect(page.split(separator: declaration).count == 2) }
    #expect(page.split(separator: "<script>").count - 1 == page.split(separator: "</script>").count - 1)
  }
}
