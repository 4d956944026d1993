package import RTCMedia
package import RTCPrimitives

extension VideoEncoderSettings {
  /// A copy of the settings for a film.
  package var asFilm: VideoEncoderSettings {
    var settings = self
    settings.contentHint = .motion
    return settings
  }
}

/// Detects a film in the picture: large changes without pause, of pictures rather than of text or drawings.
///
/// In a film, many neighbouring samples differ a little; in text and drawings they are equal or differ by much. After a
/// second of such changes the content is a film, until it stands still or other content moves for half a second.
/// Sans-IO.
package struct FilmDetector {
  /// Fewer blocks of 16×16 than this are no film worth that.
  package static let leastBlocks = 64
  /// The share of such neighbours from which on blocks are of a picture: 37 to 58 % in films with and without
  /// grain, 2 to 12 % in text.
  private static let pictureShare = 0.2
  /// Changes that are farther apart than this are no movement.
  private static let longestGap = TimeDelta.milliseconds(250)
  private static let (enough, least, most) = (
    TimeDelta.seconds(Int64(1)), TimeDelta.milliseconds(500), TimeDelta.milliseconds(1_000)
  )

  /// For how long it has been one, less what spoke against it.
  private var evidence = TimeDelta.zero
  private var lastChange: Timestamp?
  /// A film plays.
  package private(set) var isPlaying = false

  /// Makes a detector without history.
  package init() {}

  /// Takes note of a change of at least `leastBlocks` blocks that is no scroll.
  ///
  /// - Parameter similarity: of its neighbouring samples the share that differs but little (`LineDetail`).
  package mutating func note(similarity: Double, now: Timestamp) {
    let gap = lastChange.map { now - $0 } ?? .zero
    lastChange = now
    if gap > Self.longestGap {
      evidence = max(.zero, evidence - gap)
    } else if similarity >= Self.pictureShare {
      evidence = min(Self.most, evidence + gap)
    } else {
      evidence = max(.zero, evidence - gap)
    }
    isPlaying = evidence >= (isPlaying ? Self.least : Self.enough)
  }
}
