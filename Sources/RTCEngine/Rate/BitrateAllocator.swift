package import RTCPrimitives

/// Shares a target bitrate out among videos.
package enum BitrateAllocator {
  /// Returns equal shares, except that the part above a video's ceiling goes to the others.
  /// - Parameters:
  ///   - ceilings: the maximum of each video; nil: none.
  ///   - minimum: lower ceilings are raised to it.
  /// - Returns: the shares, in the order of `ceilings`.
  package static func shares(of total: BitRate, ceilings: [BitRate?], minimum: BitRate) -> [BitRate] {
    var shares = [BitRate](repeating: .zero, count: ceilings.count)
    var left = total.bitsPerSecond
    let ascending = ceilings.indices.sorted {
      (ceilings[$0]?.bitsPerSecond ?? .max) < (ceilings[$1]?.bitsPerSecond ?? .max)
    }
    for (place, index) in ascending.enumerated() {
      var share = BitRate.bitsPerSecond(left / Int64(ascending.count - place))
      if let ceiling = ceilings[index] { share = min(share, max(ceiling, minimum)) }
      left -= share.bitsPerSecond
      shares[index] = share
    }
    return shares
  }
}
