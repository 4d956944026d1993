package import RTCPrimitives

/// How a NAT treats UDP, in the terms of RFC 4787.
package struct NATKind: Hashable, Sendable {
  /// The dependence of a mapping or a filter (RFC 4787 §4.1, §5).
  package enum Dependence: Int, CaseIterable, Sendable {
    case endpointIndependent
    case addressDependent
    case addressAndPortDependent
  }

  /// When a packet to another remote address gets another external port.
  package var mapping: Dependence
  /// The packets that a mapping lets in.
  package var filtering: Dependence
  /// Hosts behind it reach each other by its external address (RFC 4787 §6).
  package var hairpins = true
  /// A mapping is forgotten when nothing was sent by it for so long.
  package var timeout = TimeDelta.seconds(30)
  /// A firewall lets no UDP through, either way.
  package var blocksUDP = false

  /// A NAT with hairpinning that forgets mappings after 30 s.
  package init(mapping: Dependence, filtering: Dependence) {
    self.mapping = mapping
    self.filtering = filtering
  }

  /// All nine combinations of mapping and filtering.
  package static var all: [NATKind] {
    Dependence.allCases.flatMap { mapping in
      Dependence.allCases.map { NATKind(mapping: mapping, filtering: $0) }
    }
  }

  /// No UDP at all; TCP passes.
  package static var blockingUDP: NATKind {
    var kind = NATKind(mapping: .endpointIndependent, filtering: .addressAndPortDependent)
    kind.blocksUDP = true
    return kind
  }
}

extension NATKind: CustomStringConvertible {
  /// Such as "EIM/APDF", in RFC 4787's words.
  package var description: String {
    let short = ["EI", "AD", "APD"]
    return blocksUDP ? "no UDP" : "\(short[mapping.rawValue])M/\(short[filtering.rawValue])F"
  }
}
