import RTCCapture
import RTCMedia
import Testing

@Suite struct DamageListTests {
  @Test func `far apart rectangles stay apart`() {
    let list = DamageList([
      PixelRect(x: 0, y: 0, width: 10, height: 10), PixelRect(x: 900, y: 900, width: 5, height: 5),
    ])
    #expect(list.rects.count == 2)
  }

  @Test func `touching rectangles become one`() {
    let list = DamageList([PixelRect(x: 0, y: 0, width: 8, height: 16), PixelRect(x: 8, y: 0, width: 8, height: 16)])
    #expect(list.rects == [PixelRect(x: 0, y: 0, width: 16, height: 16)])
  }

  @Test func `never more than the limit and everything stays covered`() {
    let added = (0..<100).map { PixelRect(x: $0 * 37 % 100 * 40, y: $0 * 53 % 100 * 40, width: 6, height: 6) }
    let list = DamageList(added)
    #expect(list.rects.count <= DamageList.limit)
    for rect in added { #expect(list.rects.contains { $0.union(rect) == $0 }) }
  }

  @Test func `empty rectangles add nothing`() {
    #expect(DamageList([PixelRect(x: 3, y: 3, width: 0, height: 9)]).isEmpty)
  }

  @Test func `row bands are disjoint and join small gaps`() {
    let list = DamageList([
      PixelRect(x: 0, y: 100, width: 9, height: 10), PixelRect(x: 700, y: 105, width: 9, height: 20),
      PixelRect(x: 300, y: 130, width: 900, height: 10), PixelRect(x: 0, y: 500, width: 9, height: 10),
    ])
    #expect(list.rowBands(joiningGapsUpTo: 8) == [100..<140, 500..<510])
  }

  @Test func `clipping keeps what is inside`() {
    let list = DamageList([
      PixelRect(x: -10, y: -10, width: 20, height: 20), PixelRect(x: 500, y: 0, width: 5, height: 5),
    ])
    #expect(
      list.clipped(to: PixelRect(x: 0, y: 0, width: 100, height: 100)).rects == [
        PixelRect(x: 0, y: 0, width: 10, height: 10)
      ])
  }
}
