import Logging
import RTCMedia
import RTCNet
import RTCSignaling
import RTCSignalingNIO

/// The server of the page on which the caster picks: on this machine alone, with a secret of its own that no viewer has.
struct PickServer {
  /// The link for the caster.
  let link: String
  let picker: CastPicker
  private let server: SignalingServer
  private let pictures: PickPictures

  /// Fails if the display cannot be reached.
  static func start(
    _ options: PickOptions, _ cast: CastPicker.Cast, _ logger: Logger
  ) async throws(CastFailure) -> PickServer {
    let pictures: PickPictures
    do throws(SystemError) { pictures = try PickPictures(display: options.display) } catch {
      throw CastFailure(.unavailable, error.description)
    }
    do throws(CaptureError) { _ = try await pictures.screens().get() } catch {
      pictures.stop()
      throw CastFailure(error)
    }
    let picker = CastPicker(pictures, options, cast)
    var configuration = SignalingServerConfiguration(listen: .loopback, gate: .fresh())
    configuration.frontPage = .pick(PickPage.html)
    configuration.picker = picker
    do throws(SignalingServerError) {
      // No stream can be watched here.
      let server = try await SignalingServer.start(configuration, sessions: StreamDirectory(), logger: logger)
      return PickServer(link: server.link, picker: picker, server: server, pictures: pictures)
    } catch {
      pictures.stop()
      throw CastFailure(error)
    }
  }

  func stop() async {
    pictures.stop()
    await server.shutdown()
  }
}
