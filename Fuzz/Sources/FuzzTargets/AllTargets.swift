import FuzzBodies
import FuzzPeerBodies
import FuzzProgramBodies
import FuzzSCTPBody
import FuzzSRTPBody
import FuzzServerBodies
import FuzzVideoBody

extension FuzzTarget {
  /// Every target, in the order in which continuous integration takes them.
  public static let all: [FuzzTarget] = [
    FuzzTarget("RTP", fuzzRTP),
    FuzzTarget("RTCP", fuzzRTCP),
    FuzzTarget("FEC", fuzzFEC),
    FuzzTarget("RateControl", fuzzRateControl),
    FuzzTarget("VP8", fuzzVP8),
    FuzzTarget("Opus", fuzzOpus),
    FuzzTarget("VP9", fuzzVP9),
    FuzzTarget("H264", fuzzH264),
    FuzzTarget("AV1", fuzzAV1),
    FuzzTarget("STUN", fuzzSTUN),
    FuzzTarget("MDNS", fuzzMDNS),
    FuzzTarget("Cursor", fuzzCursor),
    FuzzTarget("Exact", fuzzExact),
    FuzzTarget("Streams", fuzzStreams),
    FuzzTarget("SDP", longest: 16_384, fuzzSDP),
    FuzzTarget("Y4M", fuzzY4M),
    FuzzTarget("Jitter", fuzzJitter),
    FuzzTarget("Video", fuzzVideo),
    FuzzTarget("Hub", longest: 16_384, fuzzHub),
    FuzzTarget("HubClient", longest: 16_384, fuzzHubClient),
    FuzzTarget("PeerJS", longest: 16_384, fuzzPeerJS),
    FuzzTarget("SkyRTC", longest: 16_384, fuzzSkyRTC),
    FuzzTarget("H264File", fuzzH264File),
    FuzzTarget("VP9File", fuzzVP9File),
    FuzzTarget("AV1File", fuzzAV1File),
    FuzzTarget("SCTP", fuzzSCTP),
    FuzzTarget("SCTPPair", fuzzSCTPPair),
    FuzzTarget("SRTP", fuzzSRTP),
    FuzzTarget("ICE", fuzzICE),
    FuzzTarget("Gatherer", fuzzGatherer),
    FuzzTarget("TURNServer", fuzzTURNServer),
    FuzzTarget("Negotiation", fuzzNegotiation),
    FuzzTarget("FarPeer", fuzzFarPeer),
    FuzzTarget("HTTPHead", longest: 20_000, fuzzHTTPHead),
    FuzzTarget("WebSocket", longest: 4_096, fuzzWebSocket),
    FuzzTarget("Routes", fuzzRoutes),
    FuzzTarget("Proxy", longest: 4_096, fuzzProxy),
    FuzzTarget("RESP", longest: 4_096, fuzzRESP),
    FuzzTarget("PortMapping", fuzzPortMapping),
    FuzzTarget("LinkHeaders", fuzzLinkHeaders),
    FuzzTarget("Access", fuzzAccess),
    FuzzTarget("WHIP", fuzzWHIP),
    FuzzTarget("Calls", fuzzCalls),
    FuzzTarget("Plugin", fuzzPlugin),
    FuzzTarget("PacketTiming", fuzzPacketTiming),
    FuzzTarget("WindowTitle", fuzzWindowTitle),
    FuzzTarget("Preset", longest: 4_096, fuzzPreset),
    FuzzTarget("Control", fuzzControl),
    FuzzTarget("RateLog", longest: 16_384, fuzzRateLog),
  ]
}
