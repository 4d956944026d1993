import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

@Suite struct MessagesBetweenPeersTests {
  @Test(.feature("S0.2"), arguments: [true, false]) func `messages go both ways, alongside media and without any`(
    hasMedia: Bool
  ) throws {
    let channels = try ChannelPair(hasMedia: hasMedia)
    let near = try #require(channels.open(DataChannelParameters(label: "chat"), on: .offerer))
    #expect(channels.pair.connect() != nil)
    channels.pair.run(for: .seconds(1))
    let far = try #require(channels.incoming(.answerer).first)
    #expect(far.parameters.label == "chat")
    let large = DataChannelMessage.binary((0..<262_144).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    for message in [.text("hello"), .text(""), .binary([]), large] as [DataChannelMessage] {
      channels.send(message, on: near, from: .offerer)
      channels.send(message, on: far.handle, from: .answerer)
    }
    channels.pair.run(for: .seconds(5))
    #expect(channels.messages(.answerer) == [.text("hello"), .text(""), .binary([]), large])
    #expect(channels.messages(.offerer) == [.text("hello"), .text(""), .binary([]), large])
  }

  @Test(arguments: [0.05, 0.3]) func `everything arrives in order through loss`(loss: Double) throws {
    let channels = try ChannelPair(hasMedia: false) { options in
      options.conditions.jitter = .milliseconds(10)
      options.conditions.reorders = true
    }
    let near = try #require(channels.open(DataChannelParameters(), on: .offerer))
    #expect(channels.pair.connect() != nil)
    channels.pair.run(for: .seconds(1))
    channels.pair.network[.aToB].loss = loss
    channels.pair.network[.bToA].loss = loss
    for i in 0..<50 { channels.send(.text("\(i)" + String(repeating: ".", count: i * 40)), on: near, from: .offerer) }
    channels.pair.run(for: .seconds(300)) { _ in channels.messages(.answerer).count == 50 }
    let numbers = channels.messages(.answerer).map {
      if case .text(let t) = $0 { String(t.prefix { $0 != "." }) } else { "" }
    }
    #expect(numbers == (0..<50).map { "\($0)" })
  }

  @Test func `streams are even for the DTLS client and odd for the server`() throws {
    let channels = try ChannelPair()
    let theirs = try #require(channels.open(DataChannelParameters(), on: .offerer))
    let ours = try #require(channels.open(DataChannelParameters(), on: .answerer))
    channels.pair.connect()
    channels.pair.run(for: .seconds(1))
    // The answerer of an actpass offer is the DTLS server here.
    #expect(channels.pair.offerer.peer.stream(of: theirs) == StreamID(0))
    #expect(channels.pair.answerer.peer.stream(of: ours) == StreamID(1))
  }

  @Test(.feature("S0.21")) func `channels may be opened when the call stands, and close on both sides`() throws {
    let channels = try ChannelPair()
    channels.open(DataChannelParameters(label: "first"), on: .offerer)
    channels.pair.connect()
    let near = try #require(channels.open(DataChannelParameters(label: "second"), on: .offerer))
    channels.pair.run(for: .seconds(1))
    #expect(channels.incoming(.answerer).map(\.parameters.label) == ["first", "second"])
    channels.pair.perform(.offerer, .close(near))
    channels.pair.run(for: .seconds(2))
    #expect(channels.events(.offerer).contains(.closed(near)))
    #expect(channels.events(.answerer).contains(.closed(channels.incoming(.answerer)[1].handle)))
  }

  @Test func `the end of a peer closes its channels, and the far side hears of it at once`() throws {
    let channels = try ChannelPair()
    let near = try #require(channels.open(DataChannelParameters(), on: .offerer))
    channels.pair.connect()
    channels.pair.run(for: .seconds(1))
    channels.pair.perform(.offerer, .close)
    channels.pair.run(for: .milliseconds(100))
    #expect(channels.events(.offerer).suffix(2) == [.closed(near), .ended(.closedHere)])
    #expect(channels.events(.answerer).contains(.ended(.closedByPeer)))
    #expect(channels.open(DataChannelParameters(), on: .offerer) == nil)
    guard case .stateChanged(.ended)? = channels.pair.answerer.events.last?.event else {
      Issue.record("the state of the end must be the last word")
      return
    }
  }

  @Test func `a peer made without channels refuses them`() throws {
    let channels = try ChannelPair { options in
      let configure = options.configure
      options.configure = { side, configuration in
        configure(side, &configuration)
        if side == .answerer { configuration.dataChannels = nil }
      }
    }
    let near = try #require(channels.open(DataChannelParameters(), on: .offerer))
    #expect(channels.open(DataChannelParameters(), on: .answerer) == nil)
    #expect(channels.pair.connect() != nil)
    #expect(channels.events(.offerer) == [.closed(near), .ended(.closedHere)])
    #expect(channels.pair.answerer.localDescription?.contains("m=application 0 ") == true)
  }

  /// One packet of twenty is lost, of 150 ms there and back. SCTP by itself would carry 0.3 Mbit/s.
  @Test func `a channel beside video has what the rate control leaves, through loss`() throws {
    let channels = try ChannelPair { options in
      options.conditions = .delayed(.milliseconds(75))
      options.conditions.rate = .megabitsPerSecond(5)
    }
    let near = try #require(channels.open(DataChannelParameters(), on: .offerer))
    #expect(channels.pair.connect() != nil)
    channels.pair.sender.source = SyntheticVideo(frameSize: 1_500, from: channels.pair.now)
    channels.pair.run(for: .seconds(10))
    channels.pair.network[.aToB].loss = 0.05
    channels.pair.run(for: .seconds(10))
    let start = channels.pair.now
    for _ in 0..<40 { channels.send(.binary([UInt8](repeating: 1, count: 5_000)), on: near, from: .offerer) }
    channels.pair.run(for: .seconds(60)) { _ in channels.messages(.answerer).count == 40 }
    #expect(channels.pair.now - start < .milliseconds(1_500))
  }
}
