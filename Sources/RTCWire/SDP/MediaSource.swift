public import RTCPrimitives

/// The stream and track of an m-section's media (RFC 8830).
public struct MediaStreamIdentifier: Hashable, Sendable {
  /// `-` when the track is in no stream.
  public var stream: String
  /// The track's identifier (`appdata`); nil when it is not said.
  public var track: String?

  /// The track `track` of the stream `stream`.
  public init(stream: String, track: String?) {
    self.stream = stream
    self.track = track
  }

  init?(parsing text: Substring) {
    let fields = text.fields
    guard (1...2).contains(fields.count) else { return nil }
    self.init(stream: String(fields[0]), track: fields.count == 2 ? String(fields[1]) : nil)
  }

  var text: String { stream + (track.map { " " + $0 } ?? "") }
}

/// The attributes of one synchronisation source in `a=ssrc` lines (RFC 5576 §4.1).
public struct MediaSource: Hashable, Sendable {
  /// The source that is described.
  public var ssrc: SSRC
  /// The source's canonical name (RFC 5576 §6.1); nil when it is not said.
  public var cname: String?
  /// The stream and track given by `msid`; nil when they are not said.
  public var streamIdentifier: MediaStreamIdentifier?

  /// Makes the description of the source `ssrc`.
  public init(ssrc: SSRC, cname: String? = nil, streamIdentifier: MediaStreamIdentifier? = nil) {
    self.ssrc = ssrc
    self.cname = cname
    self.streamIdentifier = streamIdentifier
  }

  func write(into writer: inout SDPWriter) {
    if cname == nil && streamIdentifier == nil { writer.attribute("ssrc", "\(ssrc.value)") }
    if let cname { writer.attribute("ssrc", "\(ssrc.value) cname:\(cname)") }
    if let streamIdentifier { writer.attribute("ssrc", "\(ssrc.value) msid:\(streamIdentifier.text)") }
  }
}

/// Sources that belong together (RFC 5576 §4.2); `FID` = a stream and its repair stream (RFC 4588 §8.8).
public struct MediaSourceGroup: Hashable, Sendable {
  /// The relation of the sources, such as `FID` or `SIM`.
  public var semantics: String
  /// The sources, in the order they are named.
  public var sources: [SSRC]

  /// A group of `sources` with this meaning.
  public init(semantics: String, sources: [SSRC]) {
    self.semantics = semantics
    self.sources = sources
  }

  init?(parsing text: Substring) {
    let fields = text.fields
    guard (2...PeerLimits.sourceGroups).contains(fields.count) else { return nil }
    var sources: [SSRC] = []
    for field in fields.dropFirst() {
      guard let number = field.decimal(UInt32.self) else { return nil }
      sources.append(SSRC(number))
    }
    self.init(semantics: String(fields[0]), sources: sources)
  }

  var text: String { semantics + sources.map { " \($0.value)" }.joined() }
}
