/// Offers shaped like those of peers that do not run on Linux or everywhere, written by hand.
package enum HandmadeOffers {
  /// As Safari writes them: H.264 before VP8, several profiles.
  package static let safari = """
    v=0
    o=- 7710254871938541183 2 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0
    a=extmap-allow-mixed
    a=msid-semantic: WMS
    m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100 101 127
    c=IN IP4 0.0.0.0
    a=rtcp:9 IN IP4 0.0.0.0
    a=ice-ufrag:Qd4p
    a=ice-pwd:4rNqvDbMBkXHqS0hJ5fHnV8k
    a=ice-options:trickle
    a=fingerprint:sha-256 D3:B8:0E:FA:D7:F2:5E:48:DB:FB:47:1C:8C:84:78:26:CE:67:25:5A:07:81:AC:E1:C2:88:38:E6:8C:26:F3:B0
    a=setup:actpass
    a=mid:0
    a=extmap:1 urn:ietf:params:rtp-hdrext:toffset
    a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid
    a=recvonly
    a=rtcp-mux
    a=rtcp-rsize
    a=rtpmap:96 H264/90000
    a=rtcp-fb:96 goog-remb
    a=rtcp-fb:96 transport-cc
    a=rtcp-fb:96 ccm fir
    a=rtcp-fb:96 nack
    a=rtcp-fb:96 nack pli
    a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f
    a=rtpmap:97 rtx/90000
    a=fmtp:97 apt=96
    a=rtpmap:98 H264/90000
    a=rtcp-fb:98 nack
    a=rtcp-fb:98 nack pli
    a=fmtp:98 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
    a=rtpmap:99 rtx/90000
    a=fmtp:99 apt=98
    a=rtpmap:100 VP8/90000
    a=rtcp-fb:100 ccm fir
    a=rtcp-fb:100 nack
    a=rtcp-fb:100 nack pli
    a=rtpmap:101 rtx/90000
    a=fmtp:101 apt=100
    a=rtpmap:127 ulpfec/90000

    """

  /// As GStreamer's webrtcbin writes them with bundle policy max-bundle: named mids, bundle-only sections.
  package static let webrtcbin = """
    v=0
    o=- 4962303333179871722 0 IN IP4 0.0.0.0
    s=-
    t=0 0
    a=ice-options:trickle
    a=group:BUNDLE video0 audio1
    m=video 9 UDP/TLS/RTP/SAVPF 96 97
    c=IN IP4 0.0.0.0
    a=setup:actpass
    a=ice-ufrag:WxPvBb+D/0ohFCcdZeBfPMvWJ/yMyS30
    a=ice-pwd:fbLmMsDaVVhN2vRsiLWbVb6VTlh9ZYsE
    a=rtcp-mux
    a=rtcp-rsize
    a=recvonly
    a=rtpmap:96 VP8/90000
    a=rtcp-fb:96 nack
    a=rtcp-fb:96 nack pli
    a=rtcp-fb:96 ccm fir
    a=rtcp-fb:96 transport-cc
    a=extmap:1 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=rtpmap:97 rtx/90000
    a=fmtp:97 apt=96
    a=mid:video0
    a=fingerprint:sha-256 D3:B8:0E:FA:D7:F2:5E:48:DB:FB:47:1C:8C:84:78:26:CE:67:25:5A:07:81:AC:E1:C2:88:38:E6:8C:26:F3:B0
    m=audio 0 UDP/TLS/RTP/SAVPF 98
    c=IN IP4 0.0.0.0
    a=bundle-only
    a=rtcp-mux
    a=rtcp-rsize
    a=recvonly
    a=rtpmap:98 OPUS/48000/2
    a=mid:audio1

    """
}
