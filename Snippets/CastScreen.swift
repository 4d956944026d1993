// Casts this X11 screen to whoever opens the printed link.

import Logging
import RTCCaptureX11
import RTCast

// 1. A source.
let screen = X11Capturer(options: X11CaptureOptions(display: nil, target: .screen, cursor: true))
// 2. A broadcast of it.
let peers = try PeerLoop()
let broadcast = Broadcast(screen, peers: peers)
// 3. An endpoint for viewers.
let server = try await SignalingServer.start(
  SignalingServerConfiguration(), sessions: broadcast.whep, logger: Logger(label: "cast"))
// 4. Go.
_ = try await broadcast.start()
print("Open \(server.link)")
for await event in broadcast.events { print(event) }
