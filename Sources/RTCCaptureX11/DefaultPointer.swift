import RTCMedia

/// The pointer's image where the server gives none, as for a pointer whose program is gone: an arrow to the upper left.
enum DefaultPointer {
  /// `#` is black, `.` is white, the rest is transparent.
  private static let rows = [
    ".           ", "..          ", ".#.         ", ".##.        ", ".###.       ", ".####.      ", ".#####.     ",
    ".######.    ", ".#######.   ", ".########.  ", ".#########. ", ".######.....", ".###.##.    ", ".##..##.    ",
    ".#.  .##.   ", "..   .##.   ", ".     .##.  ", "      .##.  ", "       ..   ",
  ]

  static let image = CursorImage(
    size: PixelSize(width: rows[0].count, height: rows.count), hotX: 0, hotY: 0,
    pixels: rows.flatMap { row in
      row.map { $0 == "#" ? 0xff00_0000 : $0 == "." ? 0xffff_ffff : 0 }
    })
}
