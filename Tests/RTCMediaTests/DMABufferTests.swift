import CLinux
import Glibc
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// Pictures in memory that another program or a device shares by file descriptors. The memory here is a sealed memory file,
/// which is mapped as a DMA-BUF is: the test needs neither a graphics driver nor /dev/udmabuf.
@Suite struct DMABufferTests {
  private static let xrgb: UInt32 = 0x3432_5258
  private static let nv12: UInt32 = 0x3231_564E
  private static let size = PixelSize(width: 6, height: 4)

  /// A sealed file in which each byte has the value of its place.
  private func sealedFile(_ count: Int) throws -> Int32 {
    let descriptor = clinux_sealed_memory("picture", count)
    try #require(descriptor >= 0)
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    try #require(bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, count, 0) } == count)
    return descriptor
  }

  /// Whether the descriptor is closed, or another file has its number by now.
  private func isClosed(_ descriptor: Int32, _ inode: ino_t) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) != 0 || status.st_ino != inode
  }

  private func inode(_ descriptor: Int32) -> ino_t {
    var status = stat()
    fstat(descriptor, &status)
    return status.st_ino
  }

  private func error(_ make: () throws(DMABufferError) -> Void) -> DMABufferError? {
    do throws(DMABufferError) {
      try make()
      return nil
    } catch {
      return error
    }
  }

  @Test func `the planes are read where they lie, and the file is closed once with the last picture`() throws {
    let file = try sealedFile(4096)
    let number = inode(file)
    let releases = Atomic(0)
    do {
      let shared = try DMABuffer(
        descriptors: [file], fourCC: Self.nv12, size: Self.size,
        planes: [.init(offset: 64, stride: 32), .init(offset: 1024, stride: 16)])
      // Two pictures in the same buffer, one after the other.
      for _ in 0..<2 {
        let picture = PixelBuffer(shared) { releases.add(1, ordering: .sequentiallyConsistent) }
        #expect(picture.format == .nv12 && picture.size == Self.size && picture.dmaBuffer === shared)
        try picture.map()
        #expect(picture.stride(ofPlane: 0) == 32 && picture.stride(ofPlane: 1) == 16)
        #expect(picture.bytes(ofPlane: 0).count == 32 * 3 + 6 && picture.bytes(ofPlane: 1).count == 16 + 6)
        #expect(picture.bytes(ofPlane: 0)[33] == 64 + 33 && picture.bytes(ofPlane: 1)[17] == UInt8((1024 + 17) % 256))
        // The source draws the next picture into the same memory.
        var value: UInt8 = 7
        #expect(pwrite(file, &value, 1, 64) == 1)
        #expect(picture.bytes(ofPlane: 0)[0] == 7)
      }
      #expect(releases.load(ordering: .sequentiallyConsistent) == 2)
      #expect(!isClosed(file, number))
    }
    #expect(isClosed(file, number))
  }

  @Test func `a picture is read without a call before`() throws {
    let shared = try DMABuffer(
      descriptors: [try sealedFile(4096)], fourCC: Self.xrgb, size: Self.size, planes: [.init(offset: 0, stride: 24)])
    #expect(PixelBuffer(shared) {}.bytes(ofPlane: 0)[90] == 90)
  }

  @Test func `each plane may have a file of its own`() throws {
    let shared = try DMABuffer(
      descriptors: [try sealedFile(4096), try sealedFile(4096)], fourCC: Self.nv12, size: Self.size,
      planes: [.init(descriptor: 1, offset: 5, stride: 6), .init(descriptor: 0, offset: 9, stride: 6)])
    let picture = PixelBuffer(shared) {}
    #expect(picture.bytes(ofPlane: 0)[0] == 5 && picture.bytes(ofPlane: 1)[0] == 9)
  }

  @Test func `a picture in the driver's own order is refused with a reason, and is grey for readers that go on`() throws
  {
    let shared = try DMABuffer(
      descriptors: [try sealedFile(4096)], fourCC: Self.xrgb, modifier: 0x0100_0000_0000_0002, size: Self.size,
      planes: [.init(offset: 0, stride: 128), .init(offset: 2048, stride: 8)])
    let picture = PixelBuffer(shared) {}
    let reason = error { () throws(DMABufferError) in try picture.map() }
    #expect(reason == .notLinear(modifier: 0x0100_0000_0000_0002))
    #expect(reason?.description.contains("Have the source offer linear buffers") == true)
    let bytes = picture.bytes(ofPlane: 0)
    #expect(bytes.count == 24 * 4 && bytes.indices.allSatisfy { bytes[$0] == 128 })
  }

  @Test(arguments: [
    DMABuffer.Plane(offset: 4096, stride: 24), .init(offset: 4096 - 24 * 4 + 1, stride: 24),
    .init(offset: 0, stride: 1400), .init(offset: 0, stride: .max), .init(offset: .max, stride: .max),
  ]) func `a plane that reaches beyond its file is never read`(plane: DMABuffer.Plane) throws {
    let shared = try DMABuffer(
      descriptors: [try sealedFile(4096)], fourCC: Self.xrgb, size: Self.size, planes: [plane])
    let picture = PixelBuffer(shared) {}
    #expect(error { () throws(DMABufferError) in try picture.map() } == .outside(plane: 0, byteCount: 4096))
    #expect(picture.bytes(ofPlane: 0)[0] == 128)
  }

  @Test func `the last byte of a file is read`() throws {
    let shared = try DMABuffer(
      descriptors: [try sealedFile(4096)], fourCC: Self.xrgb, size: Self.size,
      planes: [.init(offset: 4096 - 24 * 4, stride: 24)])
    let picture = PixelBuffer(shared) {}
    try picture.map()
    #expect(picture.bytes(ofPlane: 0)[24 * 4 - 1] == 255)
  }

  @Test func `a file that could become shorter is not mapped`() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[1])
    let path = "/tmp/rtcast-dma-buffer-\(getpid())"
    let plain = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(plain >= 0 && ftruncate(plain, 4096) == 0)
    unlink(path)
    for (file, expected) in [
      (plain, DMABufferError.notShareable), (ends[0], .system(errno: ESPIPE, call: "lseek")),
    ] {
      let shared = try DMABuffer(
        descriptors: [file], fourCC: Self.xrgb, size: Self.size, planes: [.init(offset: 0, stride: 24)])
      let picture = PixelBuffer(shared) {}
      #expect(error { () throws(DMABufferError) in try picture.map() } == expected)
    }
  }

  @Test func `a buffer that fits no picture is refused, and its file is closed`() throws {
    let good = DMABuffer.Plane(offset: 0, stride: 24)
    let cases: [(fourCC: UInt32, size: PixelSize, planes: [DMABuffer.Plane], error: DMABufferError)] = [
      (0x3030_3030, Self.size, [good], .unknownFormat(fourCC: 0x3030_3030)),
      (Self.xrgb, PixelSize(width: 0, height: 4), [good], .unsuitableSize(PixelSize(width: 0, height: 4))),
      (Self.xrgb, PixelSize(width: 6, height: .max), [good], .unsuitableSize(PixelSize(width: 6, height: .max))),
      (Self.xrgb, Self.size, [], .unsuitablePlanes), (Self.xrgb, Self.size, [good, good], .unsuitablePlanes),
      (Self.xrgb, Self.size, [.init(offset: 0, stride: 23)], .unsuitablePlanes),
      (Self.xrgb, Self.size, [.init(offset: -1, stride: 24)], .unsuitablePlanes),
      (Self.xrgb, Self.size, [.init(descriptor: 2, offset: 0, stride: 24)], .unsuitablePlanes),
    ]
    for (fourCC, size, planes, expected) in cases {
      let file = try sealedFile(4096)
      let number = inode(file)
      let reason = error { () throws(DMABufferError) in
        _ = try DMABuffer(descriptors: [file, file], fourCC: fourCC, size: size, planes: planes)
      }
      #expect(reason == expected && isClosed(file, number))
    }
  }
}
