import RTCCodecVPX
import Testing

@Suite struct `Answers packed with their probabilities` {
  /// As RFC 6386, section 7.3, reads them.
  private struct Decoder {
    private let bytes: [UInt8]
    private var position = 2
    private var value: Int
    private var range = 255
    private var shifts = 0

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      value = Int(bytes[0]) << 8 | Int(bytes[1])
    }

    mutating func read(_ probability: UInt8) -> Bool {
      let split = 1 + ((range - 1) * Int(probability)) >> 8
      let answer = value >= split << 8
      if answer { (range, value) = (range - split, value - split << 8) } else { range = split }
      while range < 128 {
        (range, value, shifts) = (range << 1, value << 1, shifts + 1)
        guard shifts == 8 else { continue }
        shifts = 0
        value |= position < bytes.count ? Int(bytes[position]) : 0
        position += 1
      }
      return answer
    }
  }

  @Test(arguments: 0..<60) func `are read as they were written`(seed: Int) {
    var state = UInt64(seed) &+ 1
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    // From none to many; likely ones, unlikely ones that make carries run far, and any.
    let answers = (0..<seed * seed * 4).map { _ -> (value: Bool, probability: UInt8) in
      switch seed % 3 {
      case 0: (random(100) == 0, 254)
      case 1: (random(100) > 0, UInt8(1 + random(3)))
      default: (random(2) == 0, UInt8(1 + random(255)))
      }
    }
    var encoder = BooleanEncoder()
    for answer in answers { encoder.write(answer.value, answer.probability) }
    let bytes = encoder.finish()
    #expect(bytes.count >= 2)
    var decoder = Decoder(bytes)
    let wrong = answers.firstIndex { decoder.read($0.probability) != $0.value }
    #expect(wrong == nil)
  }

  /// A carry that runs through bytes that were done with: rare, so looked for. What is read of a long run of ones brings the
  /// low end of the interval right below it.
  @Test(arguments: 0..<40) func `carry far`(seed: Int) {
    var state = UInt64(seed) &+ 77
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for count in 0..<200 {
      var ones = Decoder((0..<20).map { $0 < seed % 8 + 1 ? UInt8(random(255)) : 255 })
      var answers = (0..<count).map { _ -> (value: Bool, probability: UInt8) in
        let probability = UInt8(64 + random(128))
        return (ones.read(probability), probability)
      }
      answers += (0..<60).map { _ in (true, UInt8(200 + random(56))) }
      var encoder = BooleanEncoder()
      for answer in answers { encoder.write(answer.value, answer.probability) }
      var decoder = Decoder(encoder.finish())
      let wrong = answers.firstIndex { decoder.read($0.probability) != $0.value }
      #expect(wrong == nil)
    }
  }
}
