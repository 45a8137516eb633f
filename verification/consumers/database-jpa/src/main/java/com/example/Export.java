package com.example;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

/** An export that was made. */
@Entity
class Export {

    @Id
    @GeneratedValue
    private Long id;

    private String name;

    protected Export() {}

    Export(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }
}
