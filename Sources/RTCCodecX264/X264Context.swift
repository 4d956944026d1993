#if X264
  import CX264
  package import RTCVideoCoding
  package import RTCMedia

  /// The owner of one libx264 encoder. It codes every frame with the quantiser that the caller gives.
  ///
  /// Kept macroblocks are marked constant and get quantiser 51. libx264 then skips them without analysis, as long as
  /// the quantiser of their last analysis was not coarser, and that is 51 again. Where the motion around them makes a
  /// skip mean something else, they are coded as they were, without a residual, because the given picture shows there
  /// the pixels that viewers have. So without deblocking they stay bit for bit.
  @safe
  package final class X264Context: BlockCoder {
    private let format: CodedFormat
    /// The level of the stream, times ten.
    private let level: Int
    /// The encoder. It is nil only where `init` throws, and is closed in `deinit` alone, after the last call.
    private var encoder: OpaquePointer?
    /// The text of the last error. libx264 writes it during calls on `encoder`, and it is read only after them.
    private let message: UnsafeMutablePointer<CChar>
    /// The flag of each macroblock that libx264 reads during a call. libx264 keeps the address and reads nothing there
    /// between calls.
    private let infos: UnsafeMutablePointer<UInt8>
    /// The quantiser offset of each macroblock, read in the same way.
    private let offsets: UnsafeMutablePointer<Float>
    private let count: Int
    /// The output picture of the last call. Its planes belong to libx264, and hold the decoders' pixels until the next
    /// call.
    private var shown: x264_picture_t
    private var frames: Int64 = 0
    /// The movement of the last picture.
    private var movement = BlockMovement.unknown
    /// The rows and columns that the search reaches.
    private var reach = X264Context.usualReach
    /// Whether the search uses libx264's hexagons alone, from the vectors of the neighbours and of the last picture's
    /// blocks.
    private var isSearchNear = false

    /// The usual reach of the search, in rows and columns, where no movement is known.
    private static let usualReach = 64

    /// The coarsest quantiser, which kept macroblocks get.
    private static let coarsest = 51

    /// Creates a context. Throws `unsupportedSize` for sides outside 1…16,384 pixels, and for pictures of more than
    /// 139,264 macroblocks, which no level allows.
    package init(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) throws(VideoEncoderError) {
      let size = settings.size
      guard (1...16384).contains(size.width), (1...16384).contains(size.height), let level = Self.level(settings) else {
        throw .unsupportedSize(size)
      }
      format = CodedFormat(settings, matrix, size: Self.codedSize(size, settings.chroma))
      self.level = level
      count = Self.macroblocks(size)
      // Made here and freed in `deinit` alone, also where `init` throws from here on.
      unsafe message = .allocate(capacity: Int(CX264_MESSAGE_SIZE))
      unsafe message.initialize(repeating: 0, count: Int(CX264_MESSAGE_SIZE))
      unsafe infos = .allocate(capacity: count)
      unsafe infos.initialize(repeating: 0, count: count)
      unsafe offsets = .allocate(capacity: count)
      unsafe offsets.initialize(repeating: 0, count: count)
      unsafe shown = x264_picture_t()
      unsafe encoder = nil
      try open(settings)
    }

    deinit {
      if let encoder = unsafe encoder { unsafe x264_encoder_close(encoder) }
      // Nothing of libx264 runs any more that could know these.
      unsafe message.deallocate()
      unsafe infos.deallocate()
      unsafe offsets.deallocate()
    }

    /// Whether the context can go on with these settings. A higher level than necessary is kept: another one would cost
    /// a key frame.
    package func suits(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) -> Bool {
      let new = CodedFormat(settings, matrix, size: Self.codedSize(settings.size, settings.chroma))
      guard format == new, let needed = Self.level(settings) else { return false }
      return needed <= level
    }

    /// Whether the context has deblocking, which also changes macroblocks that are not coded.
    package var hasFilters: Bool { format.contentHint == .motion }

    private static func macroblocks(_ size: PixelSize) -> Int { (size.width + 15) / 16 * ((size.height + 15) / 16) }

    /// The lowest level for these settings, from 3.1 on, which all viewers say they decode; nil where no level takes
    /// the size.
    private static func level(_ settings: VideoEncoderSettings) -> Int? {
      let count = macroblocks(settings.size)
      let kilobits = Int32(clamping: settings.targetBitrate.bitsPerSecond / 1000)
      let level = cx264_level(
        31, Int32(clamping: count), Double(count) * settings.maxFrameRate, kilobits)
      return level > 0 ? Int(level) : nil
    }

    // MARK: - Opening

    private func open(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
      var param = unsafe x264_param_t()
      // Zero latency: no pictures of two directions, no look ahead, threads on slices of one picture.
      guard unsafe x264_param_default_preset(&param, "superfast", "zerolatency") == 0 else {
        throw .library(status: 0, message: "libx264 has no preset superfast")
      }
      unsafe cx264_set_messages(&param, message)
      unsafe param.i_width = Int32(format.size.width)
      unsafe param.i_height = Int32(format.size.height)
      unsafe param.i_csp = Self.samples(format.chroma)
      unsafe param.i_level_idc = Int32(level)
      // Two threads take no less processor time in all; small pictures need no second.
      let isLarge = format.size.width * format.size.height >= 1280 * 720
      unsafe param.i_threads = isLarge ? Int32(max(1, min(format.threads, 8))) : 1
      unsafe param.b_sliced_threads = param.i_threads > 1 ? 1 : 0
      // Said as the fixed rate of the stream, which libx264 cannot leave out without a picture of delay; nobody reads it in RTP.
      unsafe param.i_fps_num = UInt32(max(1, min(1000, settings.maxFrameRate)) * 1000)
      unsafe param.i_fps_den = 1000
      unsafe param.i_keyint_max = X264_KEYINT_MAX_INFINITE
      unsafe param.b_repeat_headers = 1
      unsafe param.b_annexb = 1
      unsafe param.b_full_recon = 1
      unsafe describeColour(&param)
      unsafe setQuantizers(&param)
      unsafe chooseTools(&param)
      guard unsafe x264_param_apply_profile(&param, format.chroma == .full ? "high444" : "baseline") == 0 else {
        throw failure("libx264 was built without this sampling")
      }
      unsafe encoder = cx264_open(&param)
      guard unsafe encoder != nil else { throw failure("libx264 gave no encoder") }
    }

    private static func samples(_ chroma: ChromaSampling) -> Int32 { chroma == .full ? X264_CSP_I444 : X264_CSP_I420 }

    /// Screens are sRGB; the matrix and the range are what the samples were made with. Of where a quarter of the chroma
    /// samples lies nothing is said, which means on the left.
    @unsafe
    private func describeColour(_ param: inout x264_param_t) {
      unsafe param.vui.b_fullrange = 0
      unsafe param.vui.i_colorprim = 1  // BT.709, as sRGB.
      unsafe param.vui.i_transfer = 13  // sRGB.
      unsafe param.vui.i_colmatrix = format.matrix == .bt709 ? 1 : 6
    }

    /// The quantiser is set for each frame and macroblock: libx264 takes those of macroblocks only with a rate control and
    /// an adaptive quantisation of its own, whose strength here is as good as nothing.
    @unsafe
    private func setQuantizers(_ param: inout x264_param_t) {
      unsafe param.rc.i_rc_method = X264_RC_CRF
      unsafe param.rc.i_qp_min = Int32(Self.scale.lowerBound)
      unsafe param.rc.i_qp_max = Int32(Self.coarsest)
      unsafe param.rc.i_aq_mode = X264_AQ_VARIANCE
      unsafe param.rc.f_aq_strength = 1e-6
      unsafe param.rc.b_mb_tree = 0
      unsafe param.analyse.b_mb_info = 1
      unsafe param.analyse.b_psy = 0
      unsafe param.analyse.i_chroma_qp_offset = 0
    }

    @unsafe
    private func chooseTools(_ param: inout x264_param_t) {
      // What is constant is so beside the last picture alone, as it is.
      unsafe param.i_frame_reference = 1
      unsafe param.analyse.i_weighted_pred = X264_WEIGHTP_NONE
      unsafe param.i_scenecut_threshold = 0
      unsafe param.b_deblocking_filter = hasFilters ? 1 : 0
      guard format.contentHint != .motion else {
        unsafe param.analyse.inter |= UInt32(X264_ANALYSE_PSUB16x16)
        unsafe param.analyse.i_me_method = X264_ME_HEX
        return
      }
      // Faint differences belong to what is to become visually lossless.
      unsafe param.analyse.b_dct_decimate = 0
      // What scrolled far is found so; once one block has, its neighbours look there first.
      unsafe param.analyse.i_me_method = X264_ME_UMH
      unsafe param.analyse.i_me_range = Int32(Self.usualReach)
      // Screens move by whole pixels: no planes of half pixels are made of every picture, a third of the time in 4:4:4.
      unsafe param.analyse.i_subpel_refine = 0
      // Letters are small.
      unsafe param.analyse.intra = UInt32(X264_ANALYSE_I4x4)
    }

    // MARK: - Coding

    /// Looks far for what may have moved, near for what goes on moving: libx264 starts from where the last picture's blocks
    /// came from.
    private func prepareSearch(_ movement: BlockMovement) throws(VideoEncoderError) {
      let isNear = movement == .none || movement != .unknown && movement == self.movement
      self.movement = movement
      var reach = Self.usualReach
      if case .scroll(let rows) = movement { reach = max(reach, min(abs(rows) + 8, 512)) }
      guard format.contentHint != .motion, isNear != isSearchNear || !isNear && reach != self.reach else { return }
      (isSearchNear, self.reach) = (isNear, reach)
      var param = unsafe x264_param_t()
      // It was opened before `init` returned.
      unsafe x264_encoder_parameters(encoder!, &param)
      unsafe param.analyse.i_me_method = isNear ? X264_ME_HEX : X264_ME_UMH
      unsafe param.analyse.i_me_range = Int32(reach)
      guard unsafe x264_encoder_reconfig(encoder!, &param) == 0 else { throw failure("libx264 takes no other search") }
    }

    /// Codes a picture of the coded size and sampling.
    ///
    /// - Parameters:
    ///   - quantizer: 1 (finest) … 51; at 50 it is coded with 49.
    ///   - movement: what moves as it did in the last picture, or not at all, is found with little search.
    package func encode(
      _ picture: InputPicture, quantizer: Int, keyFrame: Bool, kept: [Bool], movement: BlockMovement, isUpper: Bool
    ) throws(VideoEncoderError) -> CodedPicture {
      precondition(picture.size == format.size && picture.format == (format.chroma == .full ? .i444 : .i420))
      precondition(kept.count == count && Self.scale.contains(quantizer))
      try prepareSearch(movement)
      // Quantisers that differ by one from the macroblock's before libx264 makes the same: 51 beside 50 would be 50, finer than
      // the last time, and what is kept then be searched like the rest, and at that quantiser taken for what moved there.
      let quantizer = quantizer == Self.coarsest - 1 ? quantizer - 1 : quantizer
      for index in 0..<count {
        unsafe infos[index] = kept[index] ? UInt8(X264_MBINFO_CONSTANT) : 0
        unsafe offsets[index] = kept[index] ? Float(Self.coarsest - quantizer) : 0
      }
      var input = unsafe x264_picture_t()
      unsafe x264_picture_init(&input)
      unsafe input.i_type = keyFrame ? X264_TYPE_IDR : X264_TYPE_P
      unsafe input.i_qpplus1 = Int32(quantizer + 1)
      unsafe input.i_pts = frames
      // `picture` holds the planes for as long as this call runs; libx264 copies what it keeps.
      let planes = unsafe (0..<3).map { unsafe picture.unsafePlane($0) }
      unsafe input.img.i_csp = Self.samples(format.chroma)
      unsafe input.img.i_plane = 3
      unsafe (input.img.plane.0, input.img.plane.1, input.img.plane.2) = (
        planes[0].base, planes[1].base, planes[2].base
      )
      unsafe (input.img.i_stride.0, input.img.i_stride.1, input.img.i_stride.2) =
        (Int32(planes[0].stride), Int32(planes[1].stride), Int32(planes[2].stride))
      // `count` of each, ours; nil as who frees them says that libx264 does not.
      unsafe input.prop.mb_info = infos
      unsafe input.prop.quant_offsets = offsets
      var units: UnsafeMutablePointer<x264_nal_t>?
      var unitCount: Int32 = 0
      // Before `init` returned it was opened.
      let size = unsafe x264_encoder_encode(encoder!, &units, &unitCount, &input, &shown)
      guard size > 0, let units = unsafe units else { throw failure("libx264 gave no frame") }
      frames += 1
      // libx264's until the next call; copied here.
      return CodedPicture(
        data: unsafe join(units, count: Int(unitCount), size: Int(size)),
        isKeyFrame: unsafe shown.b_keyframe != 0)
    }

    /// Parameter sets and slices, each after its start code. What libx264 says of itself stays out.
    @unsafe
    private func join(_ units: UnsafePointer<x264_nal_t>, count: Int, size: Int) -> [UInt8] {
      var data: [UInt8] = []
      data.reserveCapacity(size)
      for index in 0..<count {
        let unit = unsafe units[index]
        guard unsafe unit.i_type != Int32(NAL_SEI.rawValue) else { continue }
        unsafe data.append(contentsOf: UnsafeBufferPointer(start: unit.p_payload, count: Int(unit.i_payload)))
      }
      return data
    }

    /// Calls `body` with each plane as the viewers' decoders have it after the last frame: its index, first sample, stride,
    /// and bytes from one sample to the next. Valid within the call alone.
    @unsafe
    package func withReconstruction(
      _ body: (_ plane: Int, _ base: UnsafePointer<UInt8>, _ stride: Int, _ step: Int) -> Void
    ) {
      let image = unsafe shown.img
      guard let luma = unsafe image.plane.0, let second = unsafe image.plane.1 else { return }
      unsafe body(0, UnsafePointer(luma), Int(image.i_stride.0), 1)
      guard image.i_plane == 3, let third = unsafe image.plane.2 else {
        // libx264 keeps the chroma of 4:2:0 interleaved.
        unsafe body(1, UnsafePointer(second), Int(image.i_stride.1), 2)
        unsafe body(2, UnsafePointer(second) + 1, Int(image.i_stride.1), 2)
        return
      }
      unsafe body(1, UnsafePointer(second), Int(image.i_stride.1), 1)
      unsafe body(2, UnsafePointer(third), Int(image.i_stride.2), 1)
    }

    /// In libx264's words where it had any.
    private func failure(_ otherwise: String) -> VideoEncoderError {
      // Ends with a zero: `vsnprintf` writes one, and it was all zeros.
      let words = unsafe String(cString: message)
      unsafe message[0] = 0
      let line = words.split(separator: "\n").first.map(String.init)
      return .library(status: 0, message: line ?? otherwise)
    }
  }
#endif
