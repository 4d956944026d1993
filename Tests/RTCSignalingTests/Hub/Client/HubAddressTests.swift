import FeatureKit
import RTCSignaling
import Testing

@Suite struct HubAddressTests {
  @Test(
    .feature("S1.13", "S3.21"),
    arguments: [
      ("ws://host:8080", "ws://host:8080/hub"), ("wss://host", "wss://host/hub"), ("https://host/", "wss://host/hub"),
      ("http://[::1]:80/some/hub?x=1", "ws://[::1]/some/hub?x=1"), ("WS://HOST/", "ws://host/hub"),
    ]) func `a hub is at /hub unless another path is said`(text: String, expected: String)
  {
    #expect(HubAddress(text)?.description == expected)
  }

  @Test(arguments: ["", "host", "ftp://host", "ws:/host", "ws://", "ws://user@host", "ws://host:0", "ws://a b"])
  func `what is no address of a hub is nil`(text: String) {
    #expect(HubAddress(text) == nil)
  }

  @Test func `the last part of a target is the peer`() throws {
    let plain = try #require(HubAddress.target("ws://host:8080/alice"))
    #expect(plain.hub.description == "ws://host:8080/hub" && plain.peer == "alice")
    let deep = try #require(HubAddress.target("wss://host/some/hub/a%20b?token=1"))
    #expect(deep.hub.description == "wss://host/some/hub?token=1" && deep.peer == "a b")
    for text in ["ws://host", "ws://host/", "http://host/alice", "alice", "ws://host/hub/", "ws://host/%zz"] {
      #expect(HubAddress.target(text) == nil, "\(text)")
    }
  }
}
