"""One call of one provider: asked, judged, accounted for."""
