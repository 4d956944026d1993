/// Offers by the real thing, line endings aside. Written by aiortc 1.16.
package enum AiortcOffers {
  /// Receive-only video and audio.
  package static let receiver = """
    v=0
    o=- 4004223161 4004223161 IN IP4 0.0.0.0
    s=-
    t=0 0
    a=group:BUNDLE 0 1
    a=msid-semantic:WMS *
    m=video 51479 UDP/TLS/RTP/SAVPF 97 98 99 100 101 102
    c=IN IP4 192.0.2.2
    a=recvonly
    a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
    a=mid:0
    a=msid:1d054fa2-1e66-4900-a5be-12eaff9c3433 32d6b482-9c50-4575-8710-17db1bcc90bc
    a=rtcp:9 IN IP4 0.0.0.0
    a=rtcp-mux
    a=ssrc-group:FID 2668872131 1914385411
    a=ssrc:2668872131 cname:12371aa9-163f-4dc7-a7d8-6f02917fc629
    a=ssrc:1914385411 cname:12371aa9-163f-4dc7-a7d8-6f02917fc629
    a=rtpmap:97 VP8/90000
    a=rtcp-fb:97 nack
    a=rtcp-fb:97 nack pli
    a=rtcp-fb:97 goog-remb
    a=rtpmap:98 rtx/90000
    a=fmtp:98 apt=97
    a=rtpmap:99 H264/90000
    a=rtcp-fb:99 nack
    a=rtcp-fb:99 nack pli
    a=rtcp-fb:99 goog-remb
    a=fmtp:99 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
    a=rtpmap:100 rtx/90000
    a=fmtp:100 apt=99
    a=rtpmap:101 H264/90000
    a=rtcp-fb:101 nack
    a=rtcp-fb:101 nack pli
    a=rtcp-fb:101 goog-remb
    a=fmtp:101 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
    a=rtpmap:102 rtx/90000
    a=fmtp:102 apt=101
    a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 192.0.2.2 51479 typ host
    a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 fd00::2 59544 typ host
    a=end-of-candidates
    a=ice-ufrag:E9rw
    a=ice-pwd:M5qOYkIx1m6BfjQhiPomqo
    a=fingerprint:sha-256 3E:2B:5A:D8:03:B7:06:EA:61:DD:2A:A0:B6:2E:B7:34:52:FE:46:4F:83:05:03:77:D7:AB:68:30:1D:D3:55:7C
    a=fingerprint:sha-384 C9:8C:A0:C1:F5:0C:97:F4:7B:1D:AF:7F:38:1F:48:EF:AC:98:8B:CA:53:3E:81:91:EC:B4:3D:1B:EA:35:1E:5B:47:0B:55:3E:25:1F:A3:4E:31:38:37:BC:1D:D2:A4:D9
    a=fingerprint:sha-512 B2:2B:1E:E0:5E:45:77:C7:64:24:55:A1:96:09:7F:1E:FF:5D:85:2C:7E:B6:4C:11:D4:4D:52:3F:24:8B:EB:C2:B7:6B:6B:5F:D9:E5:84:2D:B7:39:9A:61:E1:D0:B2:43:33:3D:1F:43:B2:8D:58:6A:11:4F:4C:4D:71:E4:DB:4C
    a=setup:actpass
    m=audio 40309 UDP/TLS/RTP/SAVPF 96 9 0 8
    c=IN IP4 192.0.2.2
    a=recvonly
    a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level
    a=mid:1
    a=msid:1d054fa2-1e66-4900-a5be-12eaff9c3433 11859792-95fd-4856-8c74-e154e1c77da7
    a=rtcp:9 IN IP4 0.0.0.0
    a=rtcp-mux
    a=ssrc:79604092 cname:12371aa9-163f-4dc7-a7d8-6f02917fc629
    a=rtpmap:96 opus/48000/2
    a=rtpmap:9 G722/8000
    a=rtpmap:0 PCMU/8000
    a=rtpmap:8 PCMA/8000
    a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 192.0.2.2 40309 typ host
    a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 fd00::2 38525 typ host
    a=end-of-candidates
    a=ice-ufrag:E9rw
    a=ice-pwd:M5qOYkIx1m6BfjQhiPomqo
    a=fingerprint:sha-256 3E:2B:5A:D8:03:B7:06:EA:61:DD:2A:A0:B6:2E:B7:34:52:FE:46:4F:83:05:03:77:D7:AB:68:30:1D:D3:55:7C
    a=fingerprint:sha-384 C9:8C:A0:C1:F5:0C:97:F4:7B:1D:AF:7F:38:1F:48:EF:AC:98:8B:CA:53:3E:81:91:EC:B4:3D:1B:EA:35:1E:5B:47:0B:55:3E:25:1F:A3:4E:31:38:37:BC:1D:D2:A4:D9
    a=fingerprint:sha-512 B2:2B:1E:E0:5E:45:77:C7:64:24:55:A1:96:09:7F:1E:FF:5D:85:2C:7E:B6:4C:11:D4:4D:52:3F:24:8B:EB:C2:B7:6B:6B:5F:D9:E5:84:2D:B7:39:9A:61:E1:D0:B2:43:33:3D:1F:43:B2:8D:58:6A:11:4F:4C:4D:71:E4:DB:4C
    a=setup:actpass

    """

  /// Audio, video and a data channel both ways.
  package static let call = """
    v=0
    o=- 4004223161 4004223161 IN IP4 0.0.0.0
    s=-
    t=0 0
    a=group:BUNDLE 0 1 2
    a=msid-semantic:WMS *
    m=audio 40053 UDP/TLS/RTP/SAVPF 96 9 0 8
    c=IN IP4 192.0.2.2
    a=sendrecv
    a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:2 urn:ietf:params:rtp-hdrext:ssrc-audio-level
    a=mid:0
    a=msid:30883e70-8976-45f8-8ddb-7e699c7994dd 81cc5434-af42-40f6-8b51-c3df3d514975
    a=rtcp:9 IN IP4 0.0.0.0
    a=rtcp-mux
    a=ssrc:3002379513 cname:22908873-6edf-40c4-84ff-989a98bb7bbd
    a=rtpmap:96 opus/48000/2
    a=rtpmap:9 G722/8000
    a=rtpmap:0 PCMU/8000
    a=rtpmap:8 PCMA/8000
    a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 192.0.2.2 40053 typ host
    a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 fd00::2 33054 typ host
    a=end-of-candidates
    a=ice-ufrag:fRG3
    a=ice-pwd:2Jv1F0VNBgEvkxUhXigDUA
    a=fingerprint:sha-256 5A:8F:46:77:D1:18:9F:BC:13:B4:B7:08:0E:87:FB:FD:1E:12:C9:B5:26:FD:64:DE:AC:2F:2B:F5:4B:5C:1F:CD
    a=fingerprint:sha-384 68:17:3E:79:FF:D8:E4:0F:AD:D4:B6:6E:BB:20:BC:40:63:28:F4:11:4D:6A:4E:1E:0C:D8:11:05:38:CD:05:78:20:4F:1B:6C:84:95:6F:A6:1B:7A:EB:1D:81:6D:2F:82
    a=fingerprint:sha-512 45:E7:7F:99:F3:2B:2A:45:81:D3:53:25:18:BA:01:6B:ED:DD:04:CB:8E:3E:4A:0F:7E:5B:6C:BA:F9:1B:52:DD:89:E8:D9:93:EA:8B:E7:52:A3:2E:BA:05:D2:45:4E:A2:FE:26:B2:11:98:4C:8A:C9:53:14:2C:0F:72:74:91:12
    a=setup:actpass
    m=video 33339 UDP/TLS/RTP/SAVPF 97 98 99 100 101 102
    c=IN IP4 192.0.2.2
    a=sendrecv
    a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
    a=mid:1
    a=msid:30883e70-8976-45f8-8ddb-7e699c7994dd d6561b8e-aba6-4c41-9957-d2a39679ef10
    a=rtcp:9 IN IP4 0.0.0.0
    a=rtcp-mux
    a=ssrc-group:FID 3928315595 2763156053
    a=ssrc:3928315595 cname:22908873-6edf-40c4-84ff-989a98bb7bbd
    a=ssrc:2763156053 cname:22908873-6edf-40c4-84ff-989a98bb7bbd
    a=rtpmap:97 VP8/90000
    a=rtcp-fb:97 nack
    a=rtcp-fb:97 nack pli
    a=rtcp-fb:97 goog-remb
    a=rtpmap:98 rtx/90000
    a=fmtp:98 apt=97
    a=rtpmap:99 H264/90000
    a=rtcp-fb:99 nack
    a=rtcp-fb:99 nack pli
    a=rtcp-fb:99 goog-remb
    a=fmtp:99 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
    a=rtpmap:100 rtx/90000
    a=fmtp:100 apt=99
    a=rtpmap:101 H264/90000
    a=rtcp-fb:101 nack
    a=rtcp-fb:101 nack pli
    a=rtcp-fb:101 goog-remb
    a=fmtp:101 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
    a=rtpmap:102 rtx/90000
    a=fmtp:102 apt=101
    a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 192.0.2.2 33339 typ host
    a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 fd00::2 33258 typ host
    a=end-of-candidates
    a=ice-ufrag:fRG3
    a=ice-pwd:2Jv1F0VNBgEvkxUhXigDUA
    a=fingerprint:sha-256 5A:8F:46:77:D1:18:9F:BC:13:B4:B7:08:0E:87:FB:FD:1E:12:C9:B5:26:FD:64:DE:AC:2F:2B:F5:4B:5C:1F:CD
    a=fingerprint:sha-384 68:17:3E:79:FF:D8:E4:0F:AD:D4:B6:6E:BB:20:BC:40:63:28:F4:11:4D:6A:4E:1E:0C:D8:11:05:38:CD:05:78:20:4F:1B:6C:84:95:6F:A6:1B:7A:EB:1D:81:6D:2F:82
    a=fingerprint:sha-512 45:E7:7F:99:F3:2B:2A:45:81:D3:53:25:18:BA:01:6B:ED:DD:04:CB:8E:3E:4A:0F:7E:5B:6C:BA:F9:1B:52:DD:89:E8:D9:93:EA:8B:E7:52:A3:2E:BA:05:D2:45:4E:A2:FE:26:B2:11:98:4C:8A:C9:53:14:2C:0F:72:74:91:12
    a=setup:actpass
    m=application 52272 UDP/DTLS/SCTP webrtc-datachannel
    c=IN IP4 192.0.2.2
    a=mid:2
    a=sctp-port:5000
    a=max-message-size:262144
    a=candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 192.0.2.2 52272 typ host
    a=candidate:d0bcf3d9c29a2bc887618212a1623bfa 1 udp 2130706431 fd00::2 44384 typ host
    a=end-of-candidates
    a=ice-ufrag:fRG3
    a=ice-pwd:2Jv1F0VNBgEvkxUhXigDUA
    a=fingerprint:sha-256 5A:8F:46:77:D1:18:9F:BC:13:B4:B7:08:0E:87:FB:FD:1E:12:C9:B5:26:FD:64:DE:AC:2F:2B:F5:4B:5C:1F:CD
    a=fingerprint:sha-384 68:17:3E:79:FF:D8:E4:0F:AD:D4:B6:6E:BB:20:BC:40:63:28:F4:11:4D:6A:4E:1E:0C:D8:11:05:38:CD:05:78:20:4F:1B:6C:84:95:6F:A6:1B:7A:EB:1D:81:6D:2F:82
    a=fingerprint:sha-512 45:E7:7F:99:F3:2B:2A:45:81:D3:53:25:18:BA:01:6B:ED:DD:04:CB:8E:3E:4A:0F:7E:5B:6C:BA:F9:1B:52:DD:89:E8:D9:93:EA:8B:E7:52:A3:2E:BA:05:D2:45:4E:A2:FE:26:B2:11:98:4C:8A:C9:53:14:2C:0F:72:74:91:12
    a=setup:actpass

    """
}
