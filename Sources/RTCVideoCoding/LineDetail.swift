/// The content of a line of samples: text, picture or plain ground.
package struct LineDetail {
  /// Neighbours that differ by at most this belong to a picture.
  private static let mostDifference: UInt8 = 6

  /// How much samples differ from those before them, in all.
  package private(set) var activity = 0
  /// How many differ from the one before, but little.
  package private(set) var similar = 0

  /// The detail of up to 16 samples.
  package init(_ line: Span<UInt8>) {
    guard line.count == 16 else {
      for index in line.indices.dropFirst() {
        let difference = abs(Int(line[index]) - Int(line[index - 1]))
        activity += difference
        if difference > 0, difference <= Int(Self.mostDifference) { similar += 1 }
      }
      return
    }
    // A whole line's, all at a time, without masks, which are slow.
    let all = SIMD16(
      line[0], line[1], line[2], line[3], line[4], line[5], line[6], line[7], line[8], line[9], line[10], line[11],
      line[12], line[13], line[14], line[15])
    let next = SIMD16(
      all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8], all[9], all[10], all[11], all[12], all[13],
      all[14], all[15], all[15])
    let differences = pointwiseMax(all, next) &- pointwiseMin(all, next)
    activity = Int(SIMD16<UInt16>(truncatingIfNeeded: differences).wrappedSum())
    // A difference of 0 wraps to 255; of 1…`mostDifference` some room is left, of others none.
    let most = SIMD16<UInt8>(repeating: Self.mostDifference)
    let room = most &- pointwiseMin(differences &- SIMD16(repeating: 1), most)
    similar = Int(pointwiseMin(room, SIMD16(repeating: 1)).wrappedSum())
  }
}
