public import RTCPrimitives

/// Which stream and track an m-section's media belongs to (RFC 8830).
public struct MediaStreamIdentifier: Hashable, Sendable {
  /// `-` when the track is in no stream.
  public var stream: String
  public var track: String?

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

/// What `a=ssrc` lines say of one synchronisation source (RFC 5576 §4.1).
public struct MediaSource: Hashable, Sendable {
  public var ssrc: SSRC
  public var cname: String?
  public var streamIdentifier: MediaStreamIdentifier?

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
  public var semantics: String
  public var sources: [SSRC]

  public init(semantics: String, sources: [SSRC]) {
    self.semantics = semantics
    self.sources = sources
  }

  init?(parsing text: Substring) {
    let fields = text.fields
    guard fields.count >= 2 else { return nil }
    var sources: [SSRC] = []
    for field in fields.dropFirst() {
      guard let number = field.decimal(UInt32.self) else { return nil }
      sources.append(SSRC(number))
    }
    self.init(semantics: String(fields[0]), sources: sources)
  }

  var text: String { semantics + sources.map { " \($0.value)" }.joined() }
}
