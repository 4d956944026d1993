/// How much time an encode may take for how few bytes. Every effort but `lossy` keeps every pixel.
///
/// A dense page of text at 1080p, on one core of a 2-core cloud machine, whole and in tiles of 512 × 128:
///
/// | effort | whole | tiles |
/// |---|---|---|
/// | fast | 248 kB, 77 ms | 336 kB, 54 ms |
/// | better | 201 kB, 171 ms | 282 kB, 146 ms |
///
/// libwebp's own preset for speed (method 0, quality 0) makes half as many bytes again and is no faster: from quality 25 on it
/// keeps a cache of colours, which is what text and icons are made of.
package enum WebPEffort: Hashable, Sendable, CaseIterable {
  /// For what is to be seen at once: method 0, quality 30.
  case fast
  /// For what rests and waits for a slow network: method 3, quality 30.
  case better
  /// Not exact (quality 80), for photographs.
  case lossy
}
