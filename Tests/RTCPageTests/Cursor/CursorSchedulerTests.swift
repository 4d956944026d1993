import RTCMedia
import RTCPage
import RTCPrimitives
import Testing

/// A capturer, the machine and pages, on virtual time.
private final class World {
  var scheduler = CursorScheduler()
  var now = Timestamp.zero + .seconds(1_000)
  let clock = RTPTimestamp(4_294_000_000)
  /// The messages to each viewer since the last look.
  private(set) var sent: [CursorScheduler.Delivery] = []

  func perform(_ body: (inout CursorScheduler, Timestamp, inout [CursorScheduler.Delivery]) -> Void) {
    body(&scheduler, now, &sent)
  }

  func page(_ id: String, _ place: CursorPlace = .viewer) {
    perform { $0.connect(id, hasChannels: true, now: $1, into: &$2) }
    scheduler.open(id, clock: clock)
    say(place, id)
  }

  func say(_ place: CursorPlace, _ id: String) {
    perform { $0.handle(.ready(place), from: id, now: $1, into: &$2) }
  }

  func report(_ report: CursorReport) { perform { $0.take(report, now: $1, into: &$2) } }

  func move(_ x: Int, _ y: Int) { report(.position(CursorPosition(x: x, y: y))) }

  /// The capturer leaves the pointer out of its frames from now on, or draws it.
  func draw(_ isDrawn: Bool) {
    report(.drawing(CursorDrawing(isDrawn: isDrawn, pictureSize: PixelSize(width: 640, height: 480), since: now)))
  }

  func wait(_ time: TimeDelta) {
    let end = now + time
    while let due = scheduler.deadline(after: now), due <= end {
      precondition(due >= now, "a deadline that is over")
      now = due
      perform { $0.update($1, into: &$2) }
    }
    now = end
  }

  /// The messages since the last call: the viewer, the first byte, and the channel.
  func take() -> [String] {
    defer { sent = [] }
    return sent.map { "\($0.viewer)\($0.message[0])" + ($0.channel == .positions ? "?" : "") }
  }

  func messages() -> [[UInt8]] {
    defer { sent = [] }
    return sent.map(\.message)
  }

  static func image(_ number: UInt32, side: Int = 2) -> CursorImage {
    CursorImage(
      size: PixelSize(width: side, height: side), hotX: 1, hotY: 1,
      pixels: Array(repeating: 0xff00_0000 | number, count: side * side))
  }
}

@Suite struct `What viewers are told of the pointer` {
  /// One page, to which everything was told.
  private func settled() -> World {
    let world = World()
    world.page("a")
    world.draw(false)
    world.report(.image(World.image(1)))
    world.move(10, 20)
    world.wait(.seconds(1))
    _ = world.messages()
    return world
  }

  @Test func `a page is told who draws it, how it looks and where it is`() {
    let world = World()
    world.page("a")
    #expect(!world.scheduler.isDrawn)
    #expect(world.take() == [], "there is nothing to tell yet")
    world.draw(false)
    world.report(.image(World.image(1)))
    world.move(10, 20)
    #expect(world.take() == ["a1", "a2", "a4"])
  }

  @Test func `whoever comes later is told all of it, with the frame in its own time`() {
    let world = settled()
    world.page("b")
    let messages = world.messages()
    #expect(messages.map { $0[0] } == [1, 2, 4])
    let timestamp = RTPTimestamp(video: .zero + .seconds(1_000)).value &+ world.clock.value
    #expect(messages[0].dropFirst().prefix(4).elementsEqual((0..<4).map { UInt8(timestamp >> (24 - 8 * $0) & 255) }))
  }

  @Test func `a page that comes long after is not told to wait for a frame`() {
    let world = settled()
    world.page("b")
    #expect(world.messages()[0][5] == 1)
    world.wait(.seconds(5))
    world.page("c")
    #expect(world.messages()[0][5] == 3)
  }

  @Test func `an image is sent once to each, and then only meant`() {
    let world = settled()
    world.report(.image(World.image(2)))
    world.report(.image(World.image(1)))
    world.page("b")
    world.report(.image(World.image(2)))
    #expect(world.take() == ["a2", "a3", "b1", "b2", "b4", "a3", "b2"])
  }

  @Test func `the image that was used longest ago is sent anew when it is back`() {
    let world = settled()
    for number in 2...32 { world.report(.image(World.image(UInt32(number)))) }
    world.report(.image(World.image(1)))
    _ = world.take()
    world.report(.image(World.image(33)))
    world.report(.image(World.image(1)))
    world.report(.image(World.image(2)))
    #expect(world.take() == ["a2", "a3", "a2"])
  }

  @Test func `positions go sixty times a second at most, the newest`() {
    let world = settled()
    for x in 0..<1_000 {
      world.move(x, 0)
      world.wait(.milliseconds(1))
    }
    let messages = world.messages()
    #expect(messages.count <= 64)
    world.wait(.seconds(1))
    let last = world.messages()
    #expect(last.map { Array($0[6...7]) } == [[3, 231], [3, 231]], "the last of them, and where it rests")
  }

  @Test func `where it rests is told reliably, once`() {
    let world = settled()
    world.move(30, 40)
    #expect(world.take() == ["a4?"])
    world.wait(.milliseconds(99))
    #expect(world.take() == [])
    world.wait(.milliseconds(1))
    #expect(world.take() == ["a4"])
    world.wait(.seconds(60))
    #expect(world.take() == [] && world.scheduler.deadline(after: world.now) == nil)
  }

  @Test func `each position has a number, and the one at rest that of the last`() {
    let world = settled()
    world.move(30, 40)
    world.wait(.milliseconds(20))
    world.move(31, 40)
    world.wait(.seconds(1))
    let numbers = world.messages().map { $0[4] }
    #expect(numbers == [2, 3, 3])
  }

  @Test func `a page that cannot be seen is told nothing, and everything when it is back`() {
    let world = settled()
    world.say(.nowhere, "a")
    world.move(50, 60)
    world.report(.image(World.image(2)))
    world.wait(.seconds(1))
    #expect(world.take() == [])
    #expect(!world.scheduler.isDrawn)
    world.say(.viewer, "a")
    #expect(world.take() == ["a1", "a2", "a4"])
  }

  @Test
  func `as soon as one needs it in the picture the capturer draws it, and pages are told by the first such frame`() {
    let world = settled()
    world.perform { $0.connect("whep", hasChannels: false, now: $1, into: &$2) }
    #expect(world.scheduler.isDrawn)
    #expect(world.take() == [])
    world.draw(true)
    #expect(world.messages().map { [$0[0], $0[5]] } == [[1, 0]])
  }

  @Test func `back from the picture, where it is comes reliably at once`() {
    let world = settled()
    world.draw(true)
    _ = world.take()
    world.draw(false)
    world.move(99, 98)
    #expect(world.take() == ["a1", "a4"])
  }

  @Test func `a pointer that is too large is drawn into the picture`() {
    let world = settled()
    world.report(.image(World.image(1, side: CursorLimits.side + 1)))
    #expect(world.scheduler.isDrawn)
    #expect(world.take() == [])
    world.report(.image(World.image(1)))
    world.wait(.seconds(4))
    #expect(!world.scheduler.isDrawn)
  }

  @Test func `another source leaves nothing of the pointer`() {
    let world = settled()
    world.perform { $0.reset($1, into: &$2) }
    #expect(world.messages().map { [$0[0], $0[5]] } == [[1, 2]])
    world.page("b")
    #expect(world.take() == [])
  }

  @Test func `whoever has not opened a channel may say what it likes`() {
    let world = World()
    world.say(.viewer, "nobody")
    #expect(world.scheduler.isDrawn && world.take() == [])
    #expect(world.scheduler.deadline(after: world.now) == nil)
  }

  @Test func `a pointer that always looks otherwise is told of by and by, the newest`() {
    let world = settled()
    for number in 0..<1_000 {
      world.report(.image(World.image(UInt32(1_000 + number), side: 32)))
      world.wait(.milliseconds(10))
    }
    let bytes = world.messages().reduce(0) { $0 + $1.count }
    #expect((200_000...290_000).contains(bytes), "ten seconds: \(bytes)")
    world.wait(.seconds(1))
    let last = world.messages()
    let newest = CursorMessage.show(World.image(1_999, side: 32).digest).dropFirst()
    #expect(last.count == 1 && last[0].dropFirst().prefix(8).elementsEqual(newest))
    #expect(world.scheduler.deadline(after: world.now) == nil)
  }

  @Test func `a page whose channel ends needs the pointer in the picture, unless it leaves`() {
    let world = settled()
    world.page("b")
    _ = world.take()
    world.perform { $0.close("a", now: $1, into: &$2) }
    world.perform { $0.remove("a", now: $1, into: &$2) }
    world.wait(.seconds(10))
    #expect(!world.scheduler.isDrawn && world.take() == [])
    world.perform { $0.close("b", now: $1, into: &$2) }
    #expect(!world.scheduler.isDrawn)
    world.wait(.seconds(2))
    #expect(world.scheduler.isDrawn)
    world.move(1, 1)
    #expect(world.take() == [])
  }

  @Test func `a page that says the same again and again is sent little`() {
    let world = settled()
    for _ in 0..<1_000 { world.say(.viewer, "a") }
    #expect(world.messages().reduce(0) { $0 + $1.count } <= 1_000 * 40)
  }
}
