import Glibc

/// The files that follow a named one, of which each has a number: NAME-2.mkv, NAME-0003.mkv.
package struct NumberedFiles: Sendable {
  private let stem: Substring
  private let ending: Substring

  /// Nil if the name has no extension.
  package init?(following path: String) {
    guard let dot = path.lastIndex(of: ".") else { return nil }
    (stem, ending) = (path[..<dot] + "-", path[dot...])
  }

  /// The number of a file of the name; nil if it is none. Numbers have at most six digits.
  package func number(of path: String) -> Int? {
    guard path.hasPrefix(stem), path.hasSuffix(ending), path.utf8.count > stem.utf8.count + ending.utf8.count else {
      return nil
    }
    let number = path.dropFirst(stem.count).dropLast(ending.count)
    guard (1...6).contains(number.utf8.count), number.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(number)
  }

  /// The highest number of the files that are there; 0: none.
  package var newest: Int {
    let folder = stem.lastIndex(of: "/").map { $0 == stem.startIndex ? "/" : String(stem[..<$0]) }
    let prefix = stem.lastIndex(of: "/").map { String(stem[...$0]) } ?? ""
    guard let list = unsafe opendir(folder ?? ".") else { return 0 }
    defer { unsafe closedir(list) }
    var newest = 0
    while let entry = unsafe readdir(list) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      newest = max(newest, number(of: prefix + name) ?? 0)
    }
    return newest
  }
}
