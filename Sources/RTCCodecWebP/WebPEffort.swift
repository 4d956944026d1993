/// How much time an encode may take for how few bytes. Every effort but `lossy` keeps every pixel.
///
/// A dense page of coloured text at 1080p, on one core of a 2-core cloud machine, whole and in rectangles:
///
/// | effort | whole | 1920 × 128 | 512 × 128 |
/// |---|---|---|---|
/// | fast | 338 kB, 80 ms | 406 kB, 54 ms | 658 kB, 150 ms |
/// | better | 226 kB, 205 ms | 246 kB, 173 ms | 351 kB, 215 ms |
///
/// Methods above 1 take longer and are no smaller.
///
/// libwebp's own preset for speed (method 0, quality 0) makes half as many bytes again and is no faster: from quality 25 on it
/// keeps a cache of colours, which is what text and icons are made of.
package enum WebPEffort: Hashable, Sendable, CaseIterable {
  /// For what is to be seen at once: method 0, quality 30.
  case fast
  /// For what goes over a network: method 1, quality 30.
  case better
  /// Not exact (quality 80), for photographs.
  case lossy
}
