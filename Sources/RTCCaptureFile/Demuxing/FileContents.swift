package import RTCMedia
package import RTCPrimitives

/// The contents of an open file, as its demuxer reports them.
package struct FileContents: Sendable {
  /// One of the streams that are played.
  package struct Stream: Sendable {
    package var description: StreamDescription
    /// The duration of a picture where the container gives none; zero for sound.
    package var frameDuration: TimeDelta
    /// Pictures a second; 0 when it is not known.
    package var frameRate: Double
    /// The pixel format in which decoded pictures are delivered.
    package var pixelFormat: PixelFormat
  }

  /// A part of the file that is not played as it is meant.
  package enum Notice: Hashable, Sendable {
    /// The pictures have a transfer that goes beyond what screens show: PQ or HLG.
    case highDynamicRange(String)
    /// FFmpeg on this machine has no decoder for the pictures, or the sound, of this codec.
    case undecodable(isPicture: Bool, codec: String)
  }

  /// The container's name as FFmpeg has it: `mov,mp4,m4a,3gp,3g2,mj2`, `matroska,webm` …
  package var containerName: String
  /// The duration of the file; nil when the container gives none, or an impossible one.
  package var duration: TimeDelta?
  /// Whether the container's timestamps may leap (broadcasts).
  package var mayLeap: Bool
  package var video: Stream?
  package var audio: Stream?
  package var notices: [Notice]
}

extension FileContents.Notice {
  /// The notice as a sentence about the file at `path`.
  func sentence(_ path: String) -> String {
    switch self {
    case .highDynamicRange(let name):
      return
        "The pictures are \(name) (HDR), which is not brought down to what viewers' screens show: colours look pale. "
        + "Convert the file first for right ones."
    case .undecodable(let isPicture, let codec):
      let (missing, played) = isPicture ? ("pictures", "sound") : ("sound", "pictures")
      return "The FFmpeg on this machine cannot decode the \(missing) of \(path) (\(codec)); its "
        + "\(played) \(isPicture ? "is" : "are") played alone."
    }
  }
}
