import RTCSignaling
import Testing

@Suite struct WebAddressTests {
  @Test(arguments: [
    ("https://sfu.example/whip", "https://sfu.example/whip"), ("HTTP://A.b:80", "http://a.b/"),
    ("https://a:443/x?y=z#f", "https://a/x?y=z"), ("http://[::1]:8080/a/../b", "http://[::1]:8080/b"),
    ("http://a?q=/", "http://a/?q=/"), ("http://a:/x", "http://a/x"),
    ("http://[FE80::1%25eth0]:8080/", "http://[fe80::1%25eth0]:8080/"),
    ("http://[fe80::1%eth0]", "http://[fe80::1%25eth0]/"),
  ]) func `a URL is read and written`(text: String, expected: String) {
    #expect(WebAddress(text)?.description == expected)
  }

  @Test(arguments: [
    "", "whip", "ftp://a/", "http:/a", "http://", "http:///x", "http://u:p@a/", "http://a b/", "http://a:0/",
    "http://a:65536/", "http://a:b/", "http://[::1/", "http://[::1%25]%/", "http://[::1%2]%/", "http://[::%a%b]/",
    "http://a/\r\nX: y", "https:\\\\a",
  ]) func `what is none is refused`(text: String) {
    #expect(WebAddress(text) == nil)
  }

  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
    (";x", "http://a/b/c/;x"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
    ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./g/.", "http://a/b/c/g/"),
    ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("https://z/1", "https://z/1"),
  ]) func `a reference is resolved as RFC 3986 §5.4 has it`(reference: String, expected: String) throws {
    let base = try #require(WebAddress("http://a/b/c/d;p?q"))
    #expect(base.resolving(reference)?.description == expected)
  }

  @Test(arguments: ["", "  ", "mailto:x", "javascript:alert(1)", "http://", "a b", "//"])
  func `a useless reference is none`(reference: String) throws {
    let base = try #require(WebAddress("http://a/b"))
    #expect(base.resolving(reference) == nil)
  }

  @Test func `an origin is scheme host and port`() throws {
    let address = try #require(WebAddress("https://a/x"))
    #expect(address.hasSameOrigin(as: try #require(WebAddress("https://A:443/y"))))
    for other in ["http://a/x", "https://b/x", "https://a:444/x"] {
      #expect(!address.hasSameOrigin(as: try #require(WebAddress(other))))
    }
  }
}
