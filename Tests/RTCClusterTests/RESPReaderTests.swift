import RTCCluster
import Testing

/// Redis' protocol, from bytes to values.
@Suite struct RESPReaderTests {
  /// All values of a text, given in pieces of `size` bytes.
  private func read(
    _ text: String, size: Int = .max, _ limits: RESPReader.Limits = .init()
  ) throws(RESPReader.Fault) -> [RESPValue] {
    var reader = RESPReader(limits)
    var values: [RESPValue] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      reader.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while let value = try reader.read() { values.append(value) }
    }
    return values
  }

  private static let reply =
    "+OK\r\n$5\r\nh\r\nlo\r\n:-42\r\n,1.5\r\n#t\r\n_\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n*1\r\n:1\r\n$0\r\n\r\n%1\r\n+a\r\n:2\r\n~1\r\n+s\r\n"
    + "|1\r\n+ttl\r\n:9\r\n+after\r\n=7\r\ntxt:abc\r\n(123456789012345678901\r\n-ERR no\r\n!6\r\nSYNTAX\r\n"
    + ">3\r\n+message\r\n+c\r\n$1\r\nx\r\n"

  private func text(_ text: String) -> RESPValue { .text(Array(text.utf8)) }

  @Test(arguments: [1, 2, 3, 7, Int.max]) func `every kind of value is read, however its bytes come`(size: Int) throws {
    #expect(
      try read(Self.reply, size: size) == [
        text("OK"), text("h\r\nlo"), .number(-42), .double(1.5), .bool(true), .null, .null, .null, .list([]),
        .list([.list([.number(1)]), text("")]), .list([text("a"), .number(2)]), .list([text("s")]), text("after"),
        text("abc"), text("123456789012345678901"), .error("ERR no"), .error("SYNTAX"),
        .push([text("message"), text("c"), text("x")]),
      ])
  }

  @Test(arguments: [
    "\r\n", "x\r\n", "+OK\n", "$3\r\nabcd\r\n", "$x\r\n", "$-2\r\n", ":1x\r\n", ":99999999999999999999\r\n", "#x\r\n",
    "_x\r\n",
    "*1\r\n>1\r\n+a\r\n", "=3\r\ntxt\r\n", "HTTP/1.1 400 Bad Request\r\n",
  ]) func `what is not the protocol ends the stream`(reply: String) {
    var reader = RESPReader()
    reader.append(reply.utf8)
    #expect(throws: RESPReader.Fault.malformed) { try reader.read() }
    reader.append("+OK\r\n".utf8)
    #expect(throws: RESPReader.Fault.malformed) { try reader.read() }
  }

  @Test(arguments: [
    "$101\r\n", "*11\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n", "*6\r\n*6\r\n", "%6\r\n",
    "+" + String(repeating: "a", count: 120),
    "*3\r\n$90\r\n\(String(repeating: "a", count: 90))\r\n+",
    "*9223372036854775807\r\n",
  ]) func `a value that is too large ends the stream before it is there`(reply: String) {
    var limits = RESPReader.Limits()
    (limits.bytes, limits.depth, limits.elements) = (100, 3, 10)
    #expect(throws: RESPReader.Fault.tooLarge) { try read(reply, limits) }
  }

  @Test func `the limit of bytes is for each value, and not for the stream`() throws {
    var limits = RESPReader.Limits()
    limits.bytes = 100
    let one = "$60\r\n\(String(repeating: "a", count: 60))\r\n"
    #expect(try read(String(repeating: one, count: 5_000), size: 1_000, limits).count == 5_000)
  }

  @Test func `commands are lists of strings`() {
    var bytes: [UInt8] = []
    RESPCommand.append(["SET", "é", ""], to: &bytes)
    #expect(bytes == Array("*3\r\n$3\r\nSET\r\n$2\r\né\r\n$0\r\n\r\n".utf8))
  }
}
