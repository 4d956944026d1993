import ArgumentParser
import Testing
import rtcast_cli

@Suite struct RegisteredLinkTests {
  @Test(arguments: [
    ("rtcast:https://host:8080/#token=abcdef", "https://host:8080/#token=abcdef"),
    ("rtcast:http://127.0.0.1:8080/watch?stream=a#token=x", "http://127.0.0.1:8080/watch?stream=a#token=x"),
    ("rtcast:wss://hub.example/alice", "wss://hub.example/alice"),
    ("rtcast://host/#token=abcdef", "https://host/#token=abcdef"),
    ("RTCAST:HTTPS://host/", "HTTPS://host/"),
  ])
  func `a link of the registered scheme leads to a server`(link: String, expected: String) throws {
    #expect(try RegisteredLink.target(of: link) == expected)
  }

  @Test(arguments: ["alice", "room:standup", "manual", "https://host/", "", "rtcast", "rtcas:x"])
  func `other texts stay as they are`(text: String) throws { #expect(try RegisteredLink.target(of: text) == text) }

  @Test(arguments: [
    "rtcast:", "rtcast:manual", "rtcast:alice", "rtcast:room:a", "rtcast:file:///etc/passwd", "rtcast:--help",
  ])
  func `a link of the registered scheme to anything but a server is refused`(link: String) {
    #expect(throws: ValidationError.self) { try RegisteredLink.target(of: link) }
  }
}
