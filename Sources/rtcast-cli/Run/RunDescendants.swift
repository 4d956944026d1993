import Glibc

/// The processes below this one, as /proc lists them.
enum RunDescendants {
  /// The descendants of this process, without `excluded` and their descendants. Ended processes that nobody has waited for yet are
  /// left out.
  static func all(without excluded: some Collection<Int32>) -> [Int32] {
    var children: [Int32: [Int32]] = [:]
    for process in processes() {
      guard let parent = parent(of: process) else { continue }
      children[parent, default: []].append(process)
    }
    var found: [Int32] = []
    var waiting = [getpid()]
    while let process = waiting.popLast() {
      let next = (children[process] ?? []).filter { !excluded.contains($0) }
      found += next
      waiting += next
    }
    return found
  }

  private static func processes() -> [Int32] {
    guard let list = opendir("/proc") else { return [] }
    defer { closedir(list) }
    var numbers: [Int32] = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let number = Int32(name) { numbers.append(number) }
    }
    return numbers
  }

  /// Nil if the process is gone or has ended.
  private static func parent(of process: Int32) -> Int32? {
    // The name, in parentheses, may hold anything.
    guard let text = ProcFile.text("/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 1, fields[0] != "Z", fields[0] != "X" else { return nil }
    return Int32(fields[1])
  }
}
