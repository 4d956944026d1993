package import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// A change of the pictures between the capturer and everything that reads them: previews, recordings, exact pixels,
/// snapshots and viewers' video.
///
/// A broadcast with stages encodes all pictures itself: frames that a source has encoded would pass them by.
package protocol PictureStage: AnyObject, Sendable {
  /// Changes a picture. Called for one picture at a time, on the capturer's thread or on one for redrawing.
  /// - Parameter picture: the source's picture. Its damage is what the source has changed: empty if the picture comes
  ///   again because of `redraw`.
  /// - Returns: the picture to use, in new memory if its pixels differ. Its damage also has what this stage has changed
  ///   since its last picture.
  func change(_ picture: VideoFrame) -> VideoFrame

  /// Sets what the stage calls when its part changes while the source may rest. Any thread may call it.
  func setRedraw(_ redraw: @escaping @Sendable () -> Void)
}

/// The picture stages of a cast, and the source's newest picture, which they may change again. Any thread.
final class PictureStages: Sendable {
  private let stages: [any PictureStage]
  private let video: OutgoingVideo
  /// Held while the stages work, so that pictures keep their order.
  private let newest = Mutex<(picture: VideoFrame, run: ObjectIdentifier)?>(nil)
  private let isOpen = Atomic(true)
  private let waiter = Waiter()

  /// Nil without stages: pictures then go straight to `video`.
  init?(_ stages: [any PictureStage], before video: OutgoingVideo) {
    guard !stages.isEmpty else { return nil }
    (self.stages, self.video) = (stages, video)
    do {
      _ = try NamedThread(name: "rtc-picture") { [weak self, waiter] in
        repeat { waiter.wait(until: nil) } while self?.redraw() ?? false
      }
    } catch {
      video.report(.encoderFailed("Changes of a picture show with the next picture only: \(error)"))
    }
    for stage in stages { stage.setRedraw { [waiter] in waiter.ring() } }
  }

  deinit { waiter.ring() }

  /// Ends the thread.
  func stop() {
    isOpen.store(false, ordering: .relaxed)
    newest.withLock { $0 = nil }
    waiter.ring()
  }

  /// Takes a picture of the source, and works until nothing waits.
  func consume(_ picture: VideoFrame, from run: ObjectIdentifier) {
    newest.withLock { newest in
      newest = (picture, run)
      video.post(changed(picture), from: run)
    }
    video.encodeWaiting()
  }

  /// Releases the picture of `run`.
  func endSource(_ run: ObjectIdentifier) {
    newest.withLock { newest in
      if newest?.run == run { newest = nil }
    }
  }

  /// - Returns: false when the thread is no longer needed.
  private func redraw() -> Bool {
    guard isOpen.load(ordering: .relaxed) else { return false }
    newest.withLock { newest in
      guard let (source, run) = newest else { return }
      var picture = source
      (picture.damage, picture.captureTime) = ([], MonotonicClock.now())
      video.post(changed(picture), from: run)
    }
    video.encodeWaiting()
    return true
  }

  private func changed(_ picture: VideoFrame) -> VideoFrame {
    stages.reduce(picture) { picture, stage in stage.change(picture) }
  }
}
