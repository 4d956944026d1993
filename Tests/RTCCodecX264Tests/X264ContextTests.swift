#if X264
  import CodingKit
  import RTCCodecX264
  import RTCMedia
  import RTCPrimitives
  import Testing

  @Suite struct X264ContextTests {
    /// A page scrolls in some macroblocks, at random, and the others are kept: to take what moves around them for their own
    /// motion would be cheap, and wrong.
    @Test(arguments: ChromaSampling.allCases, [1, 2])
    func `what is kept stays bit for bit at every quantiser, whatever moves around it`(
      chroma: ChromaSampling, threads: Int
    ) throws {
      let size = PixelSize(width: 1280, height: 720)
      let context = try X264Context(VideoEncoderSettings(size: size, threads: threads, chroma: chroma), .bt601)
      let format: PixelFormat = chroma == .full ? .i444 : .i420
      let (input, fresh) = (InputPicture(format: format, size: size), InputPicture(format: format, size: size))
      var page = ColourPage(size: size, chroma: chroma)
      page.draw(into: input)
      let count = 80 * 45
      _ = try context.encode(
        input, quantizer: 20, keyFrame: true, kept: Array(repeating: false, count: count),
        movement: .unknown, isUpper: false)
      take(context, into: input)
      var random: UInt64 = 1
      for quantizer in X264Context.scale {
        page.scroll()
        page.draw(into: fresh)
        let kept = (0..<count).map { _ in
          random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return random >> 63 == 0
        }
        compose(fresh, kept, into: input)
        let before = samples(of: input)
        _ = try context.encode(
          input, quantizer: quantizer, keyFrame: false, kept: kept, movement: .unknown, isUpper: false)
        take(context, into: input)
        #expect(differing(before, samples(of: input), kept, chroma) == 0, "quantiser \(quantizer)")
      }
    }

    /// The picture that decoders have becomes the next one's.
    private func take(_ context: X264Context, into input: InputPicture) {
      context.withReconstruction { plane, base, stride, step in
        let extent = input.format.planeExtent(plane, of: input.size)
        let to = input.stride(ofPlane: plane)
        input.withMutablePlane(plane) { bytes in
          for row in 0..<extent.rows {
            for column in 0..<extent.rowBytes { bytes[row * to + column] = base[row * stride + column * step] }
          }
        }
      }
    }

    private func compose(_ fresh: InputPicture, _ kept: [Bool], into input: InputPicture) {
      for plane in 0..<3 {
        let side = plane == 0 || input.format == .i444 ? 16 : 8
        let (extent, stride) = (input.format.planeExtent(plane, of: input.size), input.stride(ofPlane: plane))
        let source = samples(of: fresh)[plane]
        input.withMutablePlane(plane) { bytes in
          for row in 0..<extent.rows {
            for column in 0..<extent.rowBytes where !kept[row / side * 80 + column / side] {
              bytes[row * stride + column] = source[row * extent.rowBytes + column]
            }
          }
        }
      }
    }

    private func samples(of picture: InputPicture) -> [[UInt8]] {
      (0..<3).map { plane in
        let (extent, stride) = (picture.format.planeExtent(plane, of: picture.size), picture.stride(ofPlane: plane))
        return picture.withPlane(plane) { bytes in
          (0..<extent.rows * extent.rowBytes).map { bytes[$0 / extent.rowBytes * stride + $0 % extent.rowBytes] }
        }
      }
    }

    private func differing(_ a: [[UInt8]], _ b: [[UInt8]], _ kept: [Bool], _ chroma: ChromaSampling) -> Int {
      (0..<3).reduce(0) { sum, plane in
        let side = plane == 0 || chroma == .full ? 16 : 8
        let width = side * 80
        return sum
          + a[plane].indices.filter { index in
            a[plane][index] != b[plane][index] && kept[index / width / side * 80 + index % width / side]
          }.count
      }
    }
  }
#endif
