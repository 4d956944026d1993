import FeatureKit
import RTCCaptureCamera
import RTCMedia
import Testing

@Suite struct ModeChoiceTests {
  /// As common cameras have them.
  private let modes: [CameraMode] = [
    mode(.yuyv, 640, 480, 30), mode(.yuyv, 1280, 720, 10), mode(.motionJPEG, 640, 480, 30),
    mode(.motionJPEG, 1280, 720, 30), mode(.motionJPEG, 1920, 1080, 30), mode(.nv12, 640, 480, 30),
  ]

  @Test(.feature("S1.25", "S4.19")) func `the nearest size is taken, fast enough before cheap, cheap before dear`() {
    #expect(best(1280, 720, 30) == mode(.motionJPEG, 1280, 720, 30))
    #expect(best(1280, 720, 10) == mode(.yuyv, 1280, 720, 10))
    #expect(best(640, 480, 30) == mode(.nv12, 640, 480, 30))
    #expect(best(700, 500, 5) == mode(.nv12, 640, 480, 30))
    #expect(best(3840, 2160, 60) == mode(.motionJPEG, 1920, 1080, 30))
  }

  @Test(.feature("S1.26"))
  func `a rate of 29.97 is as good as 30, and one that the camera does not say is taken for 30`() {
    let modes = [mode(.motionJPEG, 640, 480, 30), mode(.yuyv, 640, 480, 29.97)]
    #expect(CameraMode.best(of: modes, size: PixelSize(width: 640, height: 480), rate: 30) == modes[1])
    let silent = [mode(.motionJPEG, 640, 480, 30), mode(.yuyv, 640, 480, 0)]
    #expect(CameraMode.best(of: silent, size: PixelSize(width: 640, height: 480), rate: 30) == silent[1])
  }

  @Test func `modes are ranked as they would be chosen, so that who takes the first takes the best`() {
    let ranked = CameraMode.ranked(modes, size: PixelSize(width: 1280, height: 720), rate: 30)
    #expect(ranked.first == mode(.motionJPEG, 1280, 720, 30))
    #expect(ranked[1] == mode(.yuyv, 1280, 720, 10))
    #expect(ranked.count == modes.count)
  }

  @Test func `after pictures as they are comes H264, before JPEG, unless it is preferred or not wanted`() {
    let size = PixelSize(width: 640, height: 480)
    let modes: [CameraMode] = [.motionJPEG, .h264, .yuyv].map { mode($0, 640, 480, 30) }
    func order(_ prefersH264: Bool?) -> [CameraMode.Encoding] {
      CameraMode.ranked(modes, size: size, rate: 30, prefersH264: prefersH264).map(\.encoding)
    }
    #expect(order(nil) == [.yuyv, .h264, .motionJPEG])
    #expect(order(true) == [.h264, .yuyv, .motionJPEG])
    #expect(order(false) == [.yuyv, .motionJPEG, .h264])
  }

  @Test func `a camera without modes has none to choose`() {
    #expect(CameraMode.best(of: [], size: PixelSize(width: 640, height: 480), rate: 30) == nil)
  }

  @Test func `of sizes in steps the nearest that is there is taken`() {
    func nearest(_ width: Int, _ height: Int) -> PixelSize {
      CameraMode.nearest(
        to: PixelSize(width: width, height: height), smallest: PixelSize(width: 160, height: 120),
        largest: PixelSize(width: 1920, height: 1080), step: PixelSize(width: 16, height: 8))
    }
    #expect(nearest(1280, 720) == PixelSize(width: 1280, height: 720))
    #expect(nearest(1287, 725) == PixelSize(width: 1280, height: 720))
    #expect(nearest(1, 1) == PixelSize(width: 160, height: 120))
    #expect(nearest(9999, 9999) == PixelSize(width: 1920, height: 1080))
  }

  private func best(_ width: Int, _ height: Int, _ rate: Double) -> CameraMode? {
    CameraMode.best(of: modes, size: PixelSize(width: width, height: height), rate: rate)
  }
}

private func mode(_ encoding: CameraMode.Encoding, _ width: Int, _ height: Int, _ rate: Double) -> CameraMode {
  CameraMode(encoding: encoding, size: PixelSize(width: width, height: height), rate: rate)
}
