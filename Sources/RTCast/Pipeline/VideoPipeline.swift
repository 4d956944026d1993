import RTCMedia
