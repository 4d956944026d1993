// Pion, steered as harness/far_peer.py says: what it sends are an IVF file of VP8 and an Ogg file of Opus, over and over; what it
// receives goes into the folder given: video-N.ivf and audio-N.ogg, for others to decode.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
	"github.com/pion/webrtc/v3/pkg/media/ivfreader"
	"github.com/pion/webrtc/v3/pkg/media/ivfwriter"
	"github.com/pion/webrtc/v3/pkg/media/oggreader"
	"github.com/pion/webrtc/v3/pkg/media/oggwriter"
)

type object = map[string]interface{}

var output sync.Mutex

func tell(event string, members object) {
	if members == nil {
		members = object{}
	}
	members["event"] = event
	line, _ := json.Marshal(members)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

type peer struct {
	ivf, ogg, folder string
	connection       *webrtc.PeerConnection
	chat             atomic.Value
	mutex            sync.Mutex
	early            []webrtc.ICECandidateInit
	videos           []*int64
	audio            int64
}

func (p *peer) start(c command) error {
	configuration := webrtc.Configuration{ICETransportPolicy: webrtc.NewICETransportPolicy(c.Policy)}
	for _, server := range c.ICEServers {
		configuration.ICEServers = append(configuration.ICEServers, webrtc.ICEServer{URLs: server.URLs, Username: server.Username, Credential: server.Credential})
	}
	connection, err := webrtc.NewPeerConnection(configuration)
	if err != nil {
		return err
	}
	p.connection = connection
	connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		tell("state", object{"state": state.String()})
	})
	connection.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate != nil {
			tell("candidate", object{"candidate": candidate.ToJSON()})
		}
	})
	connection.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		if err := p.keep(track); err != nil {
			tell("error", object{"message": err.Error()})
		}
	})
	connection.OnDataChannel(p.talk)
	if err := p.send(webrtc.MimeTypeOpus, "audio", p.playSound); err != nil {
		return err
	}
	if err := p.send(webrtc.MimeTypeVP8, "video", p.playPicture); err != nil {
		return err
	}
	if !c.Caller {
		return nil
	}
	channel, err := connection.CreateDataChannel("chat", nil)
	if err == nil {
		p.talk(channel)
	}
	return err
}

func (p *peer) talk(channel *webrtc.DataChannel) {
	channel.OnOpen(func() {
		p.chat.Store(channel)
		tell("chat", object{"state": "open"})
	})
	channel.OnMessage(func(message webrtc.DataChannelMessage) { tell("message", object{"text": string(message.Data)}) })
	channel.OnClose(func() { tell("chat", object{"state": "closed"}) })
}

// What is sent.

func (p *peer) send(mime, name string, play func(*webrtc.TrackLocalStaticSample) error) error {
	track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: mime}, name, "pion")
	if err != nil {
		return err
	}
	sender, err := p.connection.AddTrack(track)
	if err != nil {
		return err
	}
	go func() {
		buffer := make([]byte, 1500)
		for {
			if _, _, err := sender.Read(buffer); err != nil { // feedback is only heard by interceptors while somebody reads
				return
			}
		}
	}()
	go func() {
		for p.connection.ConnectionState() != webrtc.PeerConnectionStateClosed {
			if err := play(track); err != nil {
				tell("error", object{"message": err.Error()})
				return
			}
		}
	}()
	return nil
}

func (p *peer) playPicture(track *webrtc.TrackLocalStaticSample) error {
	file, err := os.Open(p.ivf)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, header, err := ivfreader.NewWith(file)
	if err != nil {
		return err
	}
	length := time.Second * time.Duration(header.TimebaseNumerator) / time.Duration(header.TimebaseDenominator)
	pace := time.NewTicker(length)
	defer pace.Stop()
	for range pace.C {
		frame, _, err := reader.ParseNextFrame()
		if err != nil || p.connection.ConnectionState() == webrtc.PeerConnectionStateClosed {
			return nil // the end; it begins anew with a key frame
		}
		if err := track.WriteSample(media.Sample{Data: frame, Duration: length}); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) playSound(track *webrtc.TrackLocalStaticSample) error {
	file, err := os.Open(p.ogg)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, _, err := oggreader.NewWith(file)
	if err != nil {
		return err
	}
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for range pace.C {
		packet, header, err := reader.ParseNextPage()
		if err != nil || p.connection.ConnectionState() == webrtc.PeerConnectionStateClosed {
			return nil
		}
		if header.GranulePosition == 0 {
			continue // the page of comments
		}
		if err := track.WriteSample(media.Sample{Data: packet, Duration: 20 * time.Millisecond}); err != nil {
			return err
		}
	}
	return nil
}

// What comes.

func (p *peer) keep(track *webrtc.TrackRemote) error {
	var writer media.Writer
	var err error
	var frames *int64
	if track.Kind() == webrtc.RTPCodecTypeVideo {
		frames = new(int64)
		p.mutex.Lock()
		p.videos = append(p.videos, frames)
		name := fmt.Sprintf("video-%d.ivf", len(p.videos))
		p.mutex.Unlock()
		writer, err = ivfwriter.New(filepath.Join(p.folder, name))
		if err == nil {
			err = p.connection.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(track.SSRC())}})
		}
	} else {
		writer, err = oggwriter.New(filepath.Join(p.folder, "audio-1.ogg"), 48000, 2)
	}
	if err != nil {
		return err
	}
	defer writer.Close()
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return nil // the end of the track
		}
		if frames == nil {
			atomic.AddInt64(&p.audio, 1)
		} else if packet.Marker {
			atomic.AddInt64(frames, 1)
		}
		if len(packet.Payload) == 0 {
			continue // probes
		}
		if err := writer.WriteRTP(packet); err != nil {
			return err
		}
	}
}

func (p *peer) figures() {
	for range time.Tick(200 * time.Millisecond) {
		videos := []object{}
		p.mutex.Lock()
		for _, frames := range p.videos {
			videos = append(videos, object{"frames": atomic.LoadInt64(frames)})
		}
		p.mutex.Unlock()
		tell("figures", object{"videos": videos, "audio": atomic.LoadInt64(&p.audio), "tone": nil})
	}
}

// What it is told.

type command struct {
	Do            string  `json:"do"`
	Caller        bool    `json:"caller"`
	Type          string  `json:"type"`
	SDP           string  `json:"sdp"`
	Text          string  `json:"text"`
	Candidate     string  `json:"candidate"`
	SDPMid        *string `json:"sdpMid"`
	SDPMLineIndex *uint16 `json:"sdpMLineIndex"`
	Policy        string  `json:"iceTransportPolicy"`
	ICEServers    []struct {
		URLs       []string `json:"urls"`
		Username   string   `json:"username"`
		Credential string   `json:"credential"`
	} `json:"iceServers"`
}

func (p *peer) obey(c command) error {
	switch c.Do {
	case "start":
		return p.start(c)
	case "offer":
		offer, err := p.connection.CreateOffer(nil)
		if err != nil {
			return err
		}
		return p.describe(offer)
	case "description":
		return p.receive(webrtc.SessionDescription{Type: webrtc.NewSDPType(c.Type), SDP: c.SDP})
	case "candidate":
		candidate := webrtc.ICECandidateInit{Candidate: c.Candidate, SDPMid: c.SDPMid, SDPMLineIndex: c.SDPMLineIndex}
		if p.connection.RemoteDescription() == nil {
			p.early = append(p.early, candidate)
			return nil
		}
		return p.connection.AddICECandidate(candidate)
	case "add-video":
		return p.send(webrtc.MimeTypeVP8, "second", p.playPicture)
	case "say":
		if channel, ok := p.chat.Load().(*webrtc.DataChannel); ok {
			return channel.SendText(c.Text)
		}
		return fmt.Errorf("no chat is open")
	case "close":
		if p.connection != nil {
			return p.connection.Close()
		}
	}
	return nil
}

func (p *peer) receive(description webrtc.SessionDescription) error {
	if err := p.connection.SetRemoteDescription(description); err != nil {
		return err
	}
	for _, candidate := range p.early {
		if err := p.connection.AddICECandidate(candidate); err != nil {
			return err
		}
	}
	p.early = nil
	if description.Type != webrtc.SDPTypeOffer {
		return nil
	}
	answer, err := p.connection.CreateAnswer(nil)
	if err != nil {
		return err
	}
	return p.describe(answer)
}

func (p *peer) describe(description webrtc.SessionDescription) error {
	if err := p.connection.SetLocalDescription(description); err != nil {
		return err
	}
	tell("description", object{"type": description.Type.String(), "sdp": description.SDP})
	return nil
}

func main() {
	p := &peer{ivf: os.Args[1], ogg: os.Args[2], folder: os.Args[3]}
	go p.figures()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c command
		err := json.Unmarshal(lines.Bytes(), &c)
		if err == nil {
			err = p.obey(c)
		}
		if err != nil {
			tell("error", object{"message": c.Do + ": " + err.Error()})
		}
	}
	if p.connection != nil {
		p.connection.Close()
	}
}
