/// One line made of pieces, of which the least important go first when it does not fit.
package struct StatusLine: Sendable {
  /// A piece of the line. Pieces with the highest `rank` are left out first.
  package struct Piece: Sendable {
    package var text: String
    package var rank: Int

    package init(_ text: String, rank: Int) {
      self.text = text
      self.rank = rank
    }
  }

  private var pieces: [Piece]
  private static let gap = "  "

  package init(_ pieces: [Piece]) { self.pieces = pieces }

  /// The line in at most `columns` characters; a lone piece that is still too long is cut.
  package func fitted(to columns: Int) -> String {
    var kept = pieces
    while Self.join(kept).count > columns, kept.count > 1,
      let worst = kept.indices.max(by: { kept[$0].rank < kept[$1].rank })
    {
      kept.remove(at: worst)
    }
    let line = Self.join(kept)
    guard line.count > columns else { return line }
    return columns < 2 ? "" : line.prefix(columns - 1) + "…"
  }

  private static func join(_ pieces: [Piece]) -> String { pieces.map(\.text).joined(separator: gap) }
}
