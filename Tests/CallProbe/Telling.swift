import Foundation
import RTCast
import Synchronization

private let output = Mutex(())

/// A line for the test.
func tell(_ event: String, _ members: [String: String] = [:]) {
  guard let json = try? JSONEncoder().encode(members.merging(["event": event]) { $1 }) else { return }
  output.withLock { _ in FileHandle.standardOutput.write(json + Data("\n".utf8)) }
}

/// Signaling of the application's own: what goes out is told, and what comes is handed over by the test.
actor LineSignaling: SignalingServerConnection {
  private weak var delegate: (any SignalingServerDelegate)?
  private(set) var isOpen = false

  func setDelegate(_ delegate: (any SignalingServerDelegate)?) { self.delegate = delegate }

  func connect() async throws -> PeerID {
    isOpen = true
    return "probe"
  }

  func disconnect() async {
    isOpen = false
    tell("goodbye")
  }

  func sendSignal(_ signal: [UInt8], to peer: PeerID) async {
    tell("signal", ["to": peer, "data": String(decoding: signal, as: UTF8.self)])
  }

  func sendICECandidate(_ candidate: [UInt8], to peer: PeerID) async {
    tell("candidate", ["to": peer, "data": String(decoding: candidate, as: UTF8.self)])
  }

  func sendEndCall(_ call: String, to peer: PeerID) async { tell("bye", ["to": peer, "call": call]) }

  func hear(_ event: SignalingEvent) async { await delegate?.signalingServer(event) }
}

/// Tells all that the delegates of calls and of data channels hear.
final class Log: CallManagerDelegate, DataChannelDelegate {
  private struct Kept {
    var channels: [String: DataChannel] = [:]
    var sound: RemoteAudioTrack?
  }
  private let kept = Mutex(Kept())

  func keep(_ channel: DataChannel) {
    kept.withLock { $0.channels[channel.label] = channel }
    channel.setDelegate(self)
  }

  func channel(_ label: String) -> DataChannel? { kept.withLock { $0.channels[label] } }
  func setHearing(_ isOn: Bool) { kept.withLock { $0.sound }?.isEnabled = isOn }

  func didReceiveIncomingCall(from peer: PeerID) { tell("incoming", ["from": peer]) }
  func didAddLocalVideoTrack(_ track: LocalVideoTrack) {
    tell("local video")
    track.add(Watch("preview"))
  }
  func didAddLocalAudioTrack(_ track: LocalAudioTrack) { tell("local audio") }
  func didAddRemoteVideoTrack(_ track: RemoteVideoTrack) {
    tell("remote video", ["of": track.peer])
    track.add(Watch("picture"))
  }
  func didAddRemoteAudioTrack(_ track: RemoteAudioTrack) {
    tell("remote audio", ["of": track.peer])
    kept.withLock { $0.sound = track }
    track.add(Tap())
  }
  func remoteVideoTrackWasRemoved(_ track: RemoteVideoTrack) { tell("no remote video", ["of": track.peer]) }
  func callDidStart() { tell("start") }
  func callDidEnd(withError error: CallManagerError?) { tell("end", ["error": error?.sentence ?? ""]) }
  func didReceiveDataChannel(_ channel: DataChannel) {
    tell("channel", ["label": channel.label])
    keep(channel)
  }

  func dataChannelDidChangeState(_ channel: DataChannel) {
    tell("channel state", ["label": channel.label, "state": "\(channel.readyState)"])
  }
  func dataChannel(_ channel: DataChannel, didReceiveMessageWith buffer: DataBuffer) {
    let text = String(decoding: buffer.data, as: UTF8.self)
    tell("message", ["label": channel.label, "kind": buffer.isBinary ? "bytes" : "text", "text": text])
  }
  func dataChannelBufferedAmountDidBecomeLow(_ channel: DataChannel) {}
}

/// Counts pictures, and tells of each tenth.
final class Watch: VideoSink {
  private let name: String
  private let count = Atomic(0)

  init(_ name: String) { self.name = name }

  func show(_ frame: VideoFrame) {
    let (count, _) = count.add(1, ordering: .relaxed)
    if count % 10 == 9 { tell(name, ["count": "\(count + 1)", "size": "\(frame.size.width)x\(frame.size.height)"]) }
  }
  func videoDidEnd() {}
}

/// Tells the pitch of each half second of a far sound, as it was sent.
final class Tap: AudioSink {
  private let pitch = Pitch("tapped")

  func hear(_ frame: AudioFrame) { pitch.hear(frame.samples, channels: frame.format.channels) }
  func audioDidEnd() {}
}

/// Tells the pitch of each half second, in hertz; 0 for silence.
final class Pitch: Sendable {
  private let name: String
  private let samples = Mutex<[Float]>([])

  init(_ name: String) { self.name = name }

  func hear(_ sound: [Float], channels: Int) {
    let whole = samples.withLock { samples -> [Float]? in
      samples += stride(from: 0, to: sound.count, by: channels).map { sound[$0] }
      guard samples.count >= 24_000 else { return nil }
      defer { samples = [] }
      return samples
    }
    guard let whole else { return }
    let isSilent = whole.allSatisfy { abs($0) < 0.005 }
    let crossings = zip(whole, whole.dropFirst()).count { $0 < 0 && $1 >= 0 }
    tell(name, ["hertz": isSilent ? "0" : "\(Int((Double(crossings) * 48_000 / Double(whole.count)).rounded()))"])
  }
}
