import RTCPage
import RTCPrimitives
import Testing

/// The audience on virtual time.
private final class World {
  var audience = CursorAudience()
  var now = Timestamp.zero + .seconds(1_000)
  var isRecorded = false

  func after(_ time: TimeDelta = .zero, _ body: (inout CursorAudience, Timestamp) -> Void = { _, _ in })
    -> Bool
  {
    now += time
    body(&audience, now)
    audience.update(isNeededElsewhere: isRecorded, now: now)
    return audience.isDrawn
  }

  /// A page, from its connection to its first word.
  func page(_ id: String, _ place: CursorPlace = .viewer) -> Bool {
    after { audience, now in
      audience.connect(id, hasChannels: true, now: now)
      audience.setPlace(place, of: id)
    }
  }

  /// A viewer that no page of ours is.
  func stranger(_ id: String) -> Bool { after { $0.connect(id, hasChannels: false, now: $1) } }

  /// Lets time pass, stopping at each deadline.
  func rest() -> (isDrawn: Bool, time: TimeDelta) {
    let start = now
    while let due = audience.deadline(after: now) {
      precondition(due > now, "a deadline that is over")
      now = due
      _ = after()
    }
    return (audience.isDrawn, now - start)
  }
}

@Suite struct `Where the pointer is drawn` {
  @Test func `it is in the picture while nobody is there, and at first`() {
    let world = World()
    #expect(world.after())
    #expect(world.after(.seconds(100)))
    #expect(world.audience.deadline(after: world.now) == nil)
  }

  @Test func `pages that draw it have it out of the picture at once`() {
    let world = World()
    #expect(!world.page("a"))
    #expect(!world.page("b"))
    #expect(world.audience.deadline(after: world.now) == nil, "nothing wakes us while nothing happens")
  }

  @Test func `one viewer that is no page has it in the picture at once`() {
    let world = World()
    #expect(!world.page("a"))
    #expect(world.stranger("b"))
    #expect(world.rest() == (true, .zero))
  }

  @Test func `after who needed it in the picture, it stays there for three seconds`() {
    let world = World()
    #expect(!world.page("a"))
    #expect(world.stranger("b"))
    #expect(world.after(.seconds(60)))
    #expect(world.after { audience, _ in audience.remove("b") })
    #expect(world.rest() == (false, .seconds(3)))
  }

  @Test func `who comes and goes does not have it change back and forth`() {
    let world = World()
    #expect(!world.page("a"))
    for _ in 0..<10 {
      #expect(world.stranger("b"))
      #expect(world.after(.seconds(1)) { audience, _ in audience.remove("b") })
      #expect(world.after(.seconds(2)))
    }
    #expect(world.rest() == (false, .seconds(1)))
  }

  @Test func `a page has two seconds to say what it is`() {
    let world = World()
    #expect(!world.page("a"))
    #expect(!world.after { $0.connect("b", hasChannels: true, now: $1) })
    #expect(!world.after(.milliseconds(1_999)))
    #expect(world.rest() == (true, .milliseconds(1)))
    #expect(world.after { audience, _ in audience.setPlace(.viewer, of: "b") }, "too late, but not for good")
    #expect(world.rest() == (false, .seconds(3)))
  }

  @Test func `a page that cannot be seen needs nothing, and has no say`() {
    let world = World()
    #expect(world.page("a", .nowhere), "nobody draws it yet")
    #expect(!world.page("b"))
    #expect(!world.after { audience, _ in audience.setPlace(.nowhere, of: "b") }, "as it was")
    #expect(world.stranger("c"))
    #expect(world.after(.seconds(10)) { audience, _ in audience.remove("c") })
    #expect(world.rest() == (true, .zero), "nobody draws it")
  }

  @Test func `picture in picture needs it in the picture`() {
    let world = World()
    #expect(!world.page("a"))
    #expect(world.after { audience, _ in audience.setPlace(.picture, of: "a") })
    #expect(world.after(.seconds(9)) { audience, _ in audience.setPlace(.viewer, of: "a") })
    #expect(world.rest() == (false, .seconds(3)))
  }

  @Test func `who is disconnected counts for nothing until it is back`() {
    let world = World()
    #expect(!world.page("a"))
    #expect(world.stranger("b"))
    #expect(world.after { audience, _ in audience.disconnect("b") })
    #expect(world.rest() == (false, .seconds(3)))
    #expect(world.stranger("b"))
  }

  @Test func `a recording needs it in the picture`() {
    let world = World()
    #expect(!world.page("a"))
    world.isRecorded = true
    #expect(world.after())
    #expect(world.rest() == (true, .zero))
  }
}
