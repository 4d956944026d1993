// What SRTP costs a packet: ours (OpenSSL's ciphers) and libsrtp2 side by side, in turn in one run. Medians of seven rounds.
//
//   SRTPBenchmark [SIZE]                            the table, for packets of SIZE bytes before protection, 1200 if not said
//   SRTPBenchmark SIZE PROFILE OPERATION END COUNT  COUNT packets and nothing else, to count instructions with
//                                                   `valgrind --tool=callgrind`: two counts, and the difference by packet
import LibSRTPKit
import Metering
import RTCPrimitives
import RTCSRTP

let rounds = 7
let packetsPerRound = 50_000

enum End: String, CaseIterable {
  case libsrtp2
  case ours
}

enum Operation: String, CaseIterable {
  case protect
  case unprotect
}

func keys(_ profile: SRTPProfile) -> (local: SRTPKeys, remote: SRTPKeys) {
  var random = SeededGenerator(seed: 1)
  func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
  let one = SRTPMasterKey(key: bytes(profile.keyLength), salt: bytes(profile.saltLength))
  let other = SRTPMasterKey(key: bytes(profile.keyLength), salt: bytes(profile.saltLength))
  return (
    SRTPKeys(profile: profile, local: one, remote: other), SRTPKeys(profile: profile, local: other, remote: one)
  )
}

func setNumber(_ packet: inout [UInt8], _ number: Int) {
  packet[2] = UInt8(truncatingIfNeeded: number >> 8)
  packet[3] = UInt8(truncatingIfNeeded: number)
}

/// Packets as they leave a sender, one after the other in one piece of memory.
func protectedPackets(_ profile: SRTPProfile, size: Int, count: Int) throws -> (bytes: [UInt8], stride: Int) {
  var session = try SRTPSession(keys: keys(profile).local)
  let stride = size + profile.rtpOverhead
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count * stride)
  for number in 0..<count {
    var packet = [0x80, 96] + [UInt8](repeating: 0, count: size - 2 + SRTPSession.headroom)
    setNumber(&packet, number)
    var span = packet.mutableSpan
    let length = try session.protectRTP(&span, count: size)
    bytes += packet[..<length]
  }
  return (bytes, stride)
}

func protect(_ end: End, _ profile: SRTPProfile, size: Int, count: Int) throws -> Meter {
  var ours = try SRTPSession(keys: keys(profile).local)
  let theirs = try LibSRTPSession(keys: keys(profile).local)
  var packet = [0x80, 96] + [UInt8](repeating: 0, count: size - 2 + LibSRTPSession.headroom)
  func run(_ numbers: Range<Int>) {
    for number in numbers {
      setNumber(&packet, number)
      var span = packet.mutableSpan
      let length =
        switch end {
        case .ours: (try? ours.protectRTP(&span, count: size)) ?? 0
        case .libsrtp2: (try? theirs.protectRTP(&span, count: size)) ?? 0
        }
      precondition(length == size + profile.rtpOverhead)
    }
  }
  run(0..<100)
  var meter = Meter()
  meter.measure { run(100..<count + 100) }
  return meter
}

func unprotect(_ end: End, _ profile: SRTPProfile, size: Int, count: Int) throws -> Meter {
  var ours = try SRTPSession(keys: keys(profile).remote)
  let theirs = try LibSRTPSession(keys: keys(profile).remote)
  var (bytes, stride) = try protectedPackets(profile, size: size, count: count + 100)
  func run(_ numbers: Range<Int>) {
    var all = bytes.mutableSpan
    for number in numbers {
      var span = all._mutatingExtracting(number * stride..<(number + 1) * stride)
      let length =
        switch end {
        case .ours: (try? ours.unprotectRTP(&span)) ?? 0
        case .libsrtp2: (try? theirs.unprotectRTP(&span)) ?? 0
        }
      precondition(length == size)
    }
  }
  run(0..<100)
  var meter = Meter()
  meter.measure { run(100..<count + 100) }
  return meter
}

func measure(
  _ operation: Operation, _ end: End, _ profile: SRTPProfile, size: Int, count: Int
) throws -> Meter {
  switch operation {
  case .protect: try protect(end, profile, size: size, count: count)
  case .unprotect: try unprotect(end, profile, size: size, count: count)
  }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// What a session takes to be made, in microseconds; the process's first one apart.
func measureSetUp(_ profile: SRTPProfile) throws {
  let both = keys(profile).local
  var figures: [End: [Double]] = [:]
  for _ in 0..<100 {
    for end in End.allCases {
      var meter = Meter()
      meter.measure {
        switch end {
        case .ours: if let session = try? SRTPSession(keys: both) { _ = consume session }
        case .libsrtp2: _ = try? LibSRTPSession(keys: both)
        }
      }
      figures[end, default: []].append(meter.nanoseconds / 1000)
    }
  }
  for end in End.allCases {
    print("\(profile) a session, \(end): first \(Int(figures[end]![0])) µs, then \(Int(median(figures[end]!))) µs")
  }
}

let arguments = CommandLine.arguments
let size = arguments.count > 1 ? Int(arguments[1])! : 1200
if arguments.count == 6 {
  let profile = SRTPProfile.allCases.first { "\($0)" == arguments[2] }!
  _ = try measure(
    Operation(rawValue: arguments[3])!, End(rawValue: arguments[4])!, profile, size: size, count: Int(arguments[5])!)
} else {
  for profile in SRTPProfile.allCases { try measureSetUp(profile) }
  print("packets of \(size) bytes, medians of \(rounds) rounds of \(packetsPerRound) packets")
  for profile in SRTPProfile.allCases {
    for operation in Operation.allCases {
      var times: [End: [Double]] = [:]
      var allocations: [End: Int] = [:]
      for _ in 0..<rounds {
        for end in End.allCases {
          let meter = try measure(operation, end, profile, size: size, count: packetsPerRound)
          times[end, default: []].append(meter.nanoseconds / Double(packetsPerRound))
          allocations[end, default: 0] += meter.allocations
        }
      }
      for end in End.allCases {
        let each = Double(allocations[end]!) / Double(rounds * packetsPerRound)
        print("\(profile) \(operation), \(end): \(Int(median(times[end]!))) ns, \(each) allocations a packet")
      }
      let ratio = median(times[.ours]!) / median(times[.libsrtp2]!)
      print("\(profile) \(operation): \((ratio * 100).rounded() / 100) of libsrtp2's time")
    }
  }
}
