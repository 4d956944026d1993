import Glibc

/// A look at a shared library before it is loaded: loading one that was cut short ends the process.
enum ELFImage {
  enum Flaw: Error {
    case unreadable(Int32)
    case notAFile
    case notALibrary
    case otherMachine
    case cutShort
  }

  static func check(_ path: String) throws(Flaw) {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw .unreadable(errno) }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw .unreadable(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    let length = UInt64(status.st_size)
    guard let header = read(file, at: 0, as: Elf64_Ehdr.self) else { throw .notALibrary }
    let ident = header.e_ident
    guard ident.0 == 0x7F, ident.1 == UInt8(ascii: "E"), ident.2 == UInt8(ascii: "L"), ident.3 == UInt8(ascii: "F")
    else { throw .notALibrary }
    guard ident.4 == 2, ident.5 == 1, header.e_machine == machine else { throw .otherMachine }
    guard header.e_type == 3, header.e_phentsize == MemoryLayout<Elf64_Phdr>.size, header.e_phnum > 0 else {
      throw .notALibrary
    }
    for index in 0..<UInt64(header.e_phnum) {
      let (at, isOver) = header.e_phoff.addingReportingOverflow(index * UInt64(header.e_phentsize))
      guard !isOver, at < length, let part = read(file, at: at, as: Elf64_Phdr.self) else { throw .cutShort }
      let (end, isBeyond) = part.p_offset.addingReportingOverflow(part.p_filesz)
      guard !isBeyond, end <= length else { throw .cutShort }
    }
  }

  #if arch(x86_64)
    private static let machine: UInt16 = 62
  #elseif arch(arm64)
    private static let machine: UInt16 = 183
  #elseif arch(riscv64)
    private static let machine: UInt16 = 243
  #endif

  private static func read<Header: BitwiseCopyable>(_ file: Int32, at offset: UInt64, as type: Header.Type) -> Header? {
    unsafe withUnsafeTemporaryAllocation(of: Header.self, capacity: 1) { room in
      let count = unsafe pread(file, room.baseAddress, MemoryLayout<Header>.size, off_t(clamping: offset))
      return unsafe count == MemoryLayout<Header>.size ? room[0] : nil
    }
  }
}
