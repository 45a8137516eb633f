package com.example;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.service.annotation.GetExchange;

/** A partner that takes so many requests at once of all instances together. */
public interface Partner {

    @GetExchange("/prices/{item}")
    String price(@PathVariable String item);
}
