/// The tables of RFC 6386 for the coefficients of the difference from a prediction.
enum CoefficientProbabilities {
  /// The number of probabilities: of four kinds of blocks, eight bands, three contexts and eleven questions.
  static let count = 4 * 8 * 3 * 11

  /// The index of the first probability of a kind, a band and a context.
  static func index(_ kind: Int, band: Int, context: Int) -> Int { ((kind * 8 + band) * 3 + context) * 11 }

  /// The probabilities unless a frame says otherwise (section 13.5), in 256ths. The rows are hexadecimal: a kind and a
  /// band in each line.
  static let standard: [UInt8] = rows.flatMap { row in
    Array(row.utf8).pairs.map { UInt8(digit($0) << 4 | digit($1)) }
  }

  /// The probability that each is not updated (section 13.4), in 256ths.
  static let updates: [UInt8] = {
    var all: [UInt8] = []
    for (ones, probability) in rarelyKept { all += Array(repeating: 255, count: ones) + [probability] }
    return all + Array(repeating: 255, count: count - all.count)
  }()

  private static func digit(_ character: UInt8) -> Int { Int(character) - (character < 58 ? 48 : 87) }

  private static let rows = [
    "808080808080808080808080808080808080808080808080808080808080808080",
    "fd88feffe4db8080808080bd81f2ffe3d5ffdb8080806a7ee3fcd6d1ffff808080",
    "0162f8ffece2ffff808080b585eefeddeaff9a8080804e86caf7c6b4ffdb808080",
    "01b9f9fff3ff8080808080b896f7ffece080808080804d6ed8ffece68080808080",
    "0165fbfff1ff8080808080aa8bf1fcecd1ffff8080802574c4f3e4ffffff808080",
    "01ccfefff5ff8080808080cfa0faffee8080808080806667e7ffd3ab8080808080",
    "0198fcfff0ff8080808080b187f3ffeae180808080805081d3ffc2e08080808080",
    "0101ff8080808080808080f601ff8080808080808080ff80808080808080808080",
    "c623eddfc1bba2a0919b3e832dc6ddacb0dc9dfcdd01442f92d095a7dda2ffdf80",
    "0195f1ffdde0ffff808080b88deafddedcffc78080805163b5f2b0bef9caffff80",
    "0181e8fdd6c5f2c4ffff806379d2fac9c6ffca808080175ba3f2aabbf7d2ffff80",
    "01c8f6ffeaff80808080806db2f1ffe7f5ffff8080802c82c9fdcdc0ffff808080",
    "0184effbdbd1ffa58080805e88e1fbdabeffff8080801664aef5baa1ffc7808080",
    "01b6f9ffe8eb80808080807c8ff1ffe3ea8080808080234db5fbc1d3ffcd808080",
    "019df7ffece7ffff808080798debffe1e3ffff8080802d63bcfbc3d9ffe0808080",
    "0101fbffd5ff8080808080cb01f8ffff8080808080808901b1ffe0ff8080808080",
    "fd09f8fbcfd0ffc0808080af0de0f3c1b9f9c6ffff804911abdda1b3eca7ffea80",
    "015ff7fdd4b7ffff808080ef5af4fad3d1ffff8080809b4dc3f8bcc3ffff808080",
    "0118effbdadbffcd808080c933dbffc4ba8080808080452ebeefc9daffe4808080",
    "01bffbffff808080808080dfa5f9ffd5ff80808080808d7cf8ffff808080808080",
    "0110f8ffff808080808080be24e6ffecff80808080809501ff8080808080808080",
    "01e2ff8080808080808080f7c0ff8080808080808080f080ff8080808080808080",
    "0186fcffff808080808080d53efaffff808080808080375dff8080808080808080",
    "808080808080808080808080808080808080808080808080808080808080808080",
    "ca18d5ebbabfdca0f0afff7e26b6e8a9b8e4aeffbb803d2e8adb97b2f0aaffd880",
    "0170e6fac7bff79fffff80a66de4fcd3d7ffae808080274da2e8acb4f5b2ffff80",
    "0134dcf6c6c7f9dcffff807c4abff3b7c1faddffff80184782db9aaaf3b6ffff80",
    "01b6e1f9dbf0ffe08080809596e2fcd8cdffab8080801c6caaf2b7c2fedfffff80",
    "0151e6fccccbffc08080807b66d1f7bcc4ffe9808080145f99f3a4adffcb808080",
    "01def8ffd8d58080808080a8aff6fcebcdffff8080802f74d7ffd3d4ffff808080",
    "0179ecfdd4d6ffff8080808d54d5fcc9caffdb8080802a50a0f0a2b9ffcd808080",
    "0101ff8080808080808080f401ff8080808080808080ee01ff8080808080808080",
  ]

  /// The values of `updates` other than 255, each with the number of values of 255 before it.
  private static let rarelyKept: [(Int, UInt8)] = [
    (33, 176), (0, 246), (9, 223), (0, 241), (0, 252), (8, 249), (0, 253), (0, 253), (9, 244), (0, 252), (8, 234),
    (0, 254), (0, 254), (8, 253), (11, 246), (0, 254), (8, 239), (0, 253), (0, 254), (8, 254), (1, 254), (9, 248),
    (0, 254), (8, 251), (1, 254), (20, 253), (0, 254), (8, 251), (0, 254), (0, 254), (8, 254), (1, 254), (9, 254),
    (0, 253), (1, 254), (6, 250), (1, 254), (1, 254), (6, 254), (43, 217), (10, 225), (0, 252), (0, 241), (0, 253),
    (2, 254), (4, 234), (0, 250), (0, 241), (0, 250), (0, 253), (1, 253), (0, 254), (4, 254), (9, 223), (0, 254),
    (0, 254), (8, 238), (0, 253), (0, 254), (0, 254), (8, 248), (0, 254), (8, 249), (0, 254), (21, 253), (9, 247),
    (0, 254), (21, 253), (0, 254), (8, 252), (22, 254), (0, 254), (8, 253), (22, 254), (0, 253), (8, 250), (10, 254),
    (43, 186), (0, 251), (0, 250), (8, 234), (0, 251), (0, 244), (0, 254), (7, 251), (0, 251), (0, 243), (0, 253),
    (0, 254), (1, 254), (5, 253), (0, 254), (8, 236), (0, 253), (0, 254), (8, 251), (0, 253), (0, 253), (0, 254),
    (0, 254), (7, 254), (0, 254), (8, 254), (0, 254), (0, 254), (20, 254), (9, 254), (0, 254), (9, 254), (21, 254),
    (120, 248), (10, 250), (0, 254), (0, 252), (0, 254), (7, 248), (0, 254), (0, 249), (0, 253), (8, 253), (0, 253),
    (8, 246), (0, 253), (0, 253), (8, 252), (0, 254), (0, 251), (0, 254), (0, 254), (7, 254), (0, 252), (8, 248),
    (0, 254), (0, 253), (8, 253), (1, 254), (0, 254), (8, 251), (0, 254), (8, 245), (0, 251), (0, 254), (8, 253),
    (0, 253), (0, 254), (9, 251), (0, 253), (8, 252), (0, 253), (0, 254), (9, 254), (10, 252), (9, 249), (1, 254),
    (10, 254), (10, 253), (8, 250), (32, 254),
  ]
}

extension [UInt8] {
  fileprivate var pairs: [(UInt8, UInt8)] { stride(from: 0, to: count - 1, by: 2).map { (self[$0], self[$0 + 1]) } }
}
